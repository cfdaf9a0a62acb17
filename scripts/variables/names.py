# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Names that a variable may have, each list read from the file that defines it."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from scripts.check.select import FOLDERS, select, similar
from sim.experiments.engine.schema.methods import METHODS
from sim.experiments.names import PROGRAMS_MINIMUM_SECONDS

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl" / "downbeat"
CHANGE = re.compile(r",(?=[^,;]*=)")  # as BuildName.scala parts a name: a list of policies has commas too
KERNEL = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def test(text: str) -> str:
    """A test module or a folder of them."""
    if select(ROOT, text):
        return ""
    near = similar(ROOT, text)
    return f"no such test; nearest: {', '.join(near)}" if near else f"no such test; the folders are {_folders()}"


def case(text: str) -> str:
    """A function in a chosen test module, or in a test module that it names (the cases of another module, with a
    label)."""
    wanted = os.environ.get("TEST", "")
    chosen = [ROOT / path for path in select(ROOT, wanted)] if wanted else _python_files()
    own = {name for path in chosen for name in _functions(path)}
    name = re.split(r"[/\[]", text.rpartition(":")[2])[0]
    words = {word for path in chosen if wanted for word in re.findall(r"\w+", path.read_text())}
    named = (path for path in _python_files() if path.stem in words)
    if name in own or any(name in _functions(path) for path in named):
        return ""
    near = difflib.get_close_matches(name, own, cutoff=0.3)
    return f"no such case; nearest: {', '.join(near)}" if near else "no such case in any test"


def presets() -> list[str]:
    return re.findall(r'^\s*"(\w+)" ->', source("Presets"), re.MULTILINE)


def build_name(text: str) -> str:
    """A preset, or a preset and changed fields: default,flows=64. The elaboration checks the fields' values."""
    preset, *changes = CHANGE.split(text)
    if preset not in presets():
        return f"use {', '.join(presets())}"
    fields = re.findall(r'^\s*"(\w+)" -> (?:\(\(config, value\)|policies)', source("BuildName"), re.MULTILINE)
    for field, _, value in (change.partition("=") for change in changes):
        if field == "policies" and (instead := policy_choice(value)):
            return instead
        if field not in fields or field != "policies" and not re.fullmatch(r"\w+", value):
            return f"use FIELD=VALUE after the preset, FIELD one of {', '.join(fields)}"
    return ""


def policy_choice(text: str) -> str:
    """Start-up policies;steady policies."""
    families = [part.split(",") for part in text.split(";")]
    if len(families) != 2:
        return "use START-UP,...;STEADY,... in quotes, as 'standard,rapid;reno,cubic'"
    for family, chosen in zip(("startup", "steady"), families, strict=True):
        known = policies(family)
        if wrong := next((name for name in chosen if name not in known), None):
            near = difflib.get_close_matches(wrong, known, n=3)
            return f"there is no {family} policy {wrong}; use {', '.join(near or known)}"
        if known[0] not in chosen:
            return f"keep {known[0]}: a connection that names no {family} policy gets it"
    return ""


def policies(family: str = "") -> list[str]:
    """Those of the registry, and those of POLICY_PATH."""
    text = source("Policies")
    lists = re.findall(r"val (startup|steady): Seq\[\w+\] = Seq\(([^)]*)\)", text)
    found = [name.lower() for kind, names in lists if family in ("", kind) for name in re.findall(r"\w+", names)]
    outside = os.environ.get("POLICY_PATH", "")
    for kind in (family,) if family else ("startup", "steady"):
        found += [path.stem.lower() for path in sorted(Path(outside, kind).glob("*.scala")) if outside]
    return found


def starts() -> list[str]:
    """Values of STARTUP of `make sim`."""
    return list(dict.fromkeys([*policies("startup"), *METHODS, "all"]))


def modules() -> list[str]:
    """Those of Modules.scala, and one for each policy and for each calculator."""
    own = re.findall(r'^\s*"(\w+)" ->', source("Modules"), re.MULTILINE)
    texts = [path.read_text() for path in sorted((RTL / "calculation").glob("*.scala"))]
    calculators = [name for text in texts for name in re.findall(r'^\s*val name = "(\w+)"', text, re.MULTILINE)]
    own += [f"Policy{name.capitalize()}" for name in policies()]
    return sorted({*own, *(f"Calculator{name.capitalize()}" for name in calculators)})


def boards() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "constraints").glob("*/board.toml"))


def scripts() -> list[str]:
    return sorted(path.stem for path in (ROOT / "sim" / "adversarial" / "packetdrill" / "scripts").glob("*.pkt"))


def script(text: str) -> str:
    """A packet script's path, or the name of one of the tree's."""
    if Path(text).is_file() or Path(text).stem in scripts():
        return ""
    near = difflib.get_close_matches(Path(text).stem, scripts(), cutoff=0.4)
    return f"no such script; nearest: {', '.join(near)}" if near else f"no such script; use {', '.join(scripts())}"


def congestion(text: str) -> str:
    """A congestion control of this kernel; where its list cannot be read the program asks the kernel."""
    known = KERNEL.read_text().split() if KERNEL.is_file() else [text]
    return "" if text in known else f"this kernel has {', '.join(known)}"


def source(name: str) -> str:
    """The text of NAME.scala, whatever package it is in."""
    return next(RTL.rglob(f"{name}.scala")).read_text()


def _folders() -> str:
    return ", ".join(sorted({path.parent.name for folder in FOLDERS for path in (ROOT / folder).rglob("test_*.py")}))


def _python_files() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def _functions(path: Path) -> list[str]:
    return re.findall(r"^(?:async )?def (\w+)", path.read_text(), re.MULTILINE)


def minimum_seconds() -> int:
    """The shortest DURATION of the experiment NAME."""
    return PROGRAMS_MINIMUM_SECONDS.get(os.environ.get("NAME", ""), 0)
