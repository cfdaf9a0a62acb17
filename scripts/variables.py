# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What make's variables may be. `python -m scripts.variables TARGET...` refuses a wrong one in one line.

The values come from the environment, where make puts its variables; an empty one counts as unset. A list of names is read
from the file that defines the names. This runs before set-up and before anything is built, so it uses
nothing but Python's own library.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from downbeat.quantities import size

from scripts.check.select import FOLDERS, select, similar
from sim.bench.__main__ import BENCHES
from sim.experiments.__main__ import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[1]
RTL = ROOT / "rtl" / "downbeat"
LARGEST_SEED = 2**31 - 1  # nextpnr's, the smallest of all programs'
LARGEST_COUNT = 10**9
LARGEST_SIZE = 4 * 10**9  # bytes
SHOWN = 60  # characters of a value in a refusal

# What to use instead of a value; empty when the value is right.
Check = Callable[[str], str]


@dataclass(frozen=True)
class Variable:
    """One variable, as these targets take it."""

    name: str
    targets: Sequence[str]
    check: Check


def whole(least: int, most: int) -> Check:
    """A decimal whole number."""

    def check(text: str) -> str:
        fits = re.fullmatch("[0-9]{1,12}", text) and least <= int(text) <= most
        return "" if fits else f"use a whole number from {least} to {most}"

    return check


def power_of_two(least: int, most: int) -> Check:
    powers = [1 << bits for bits in range(most.bit_length()) if least <= 1 << bits]
    return lambda text: "" if text in map(str, powers) else f"use a power of two, {least} to {most}"


def seconds(most: int) -> Check:
    """A positive decimal number."""

    def check(text: str) -> str:
        fits = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) and 0 < float(text) <= most
        return "" if fits else f"use seconds, more than 0 and at most {most}"

    return check


def byte_count(text: str) -> str:
    """A size as the command lines take it: 8MB, 64 KiB."""
    try:
        length = size(text)
    except ValueError:
        length = 0
    return "" if 0 < length <= LARGEST_SIZE else f"use a size from 1 B to {LARGEST_SIZE // 10**9} GB, as 8MB or 64KiB"


def readable_file(text: str) -> str:
    return "" if Path(text).is_file() else "no such file; downbeat schedule writes one"


def among(names: Callable[[], Iterable[str]], several: str = "") -> Check:
    """One of the names, or several with that separator between them."""

    def check(text: str) -> str:
        known = list(names())
        words = [word.strip() for word in text.split(several)] if several else [text]
        return "" if all(word in known for word in words) else f"use {', '.join(known)}"

    return check


def test(text: str) -> str:
    """A test module or a folder of them."""
    if select(ROOT, text):
        return ""
    near = similar(ROOT, text)
    return f"no such test; the nearest are {', '.join(near)}" if near else f"no such test; the folders are {_folders()}"


def case(text: str) -> str:
    """A function in a chosen test module, or in a test module that it names (the cases of another module, with a label)."""
    wanted = os.environ.get("TEST", "")
    chosen = [ROOT / path for path in select(ROOT, wanted)] if wanted else _python_files()
    own = {name for path in chosen for name in _functions(path)}
    name = re.split(r"[/\[]", text.rpartition(":")[2])[0]
    words = {word for path in chosen if wanted for word in re.findall(r"\w+", path.read_text())}
    named = (path for path in _python_files() if path.stem in words)
    if name in own or any(name in _functions(path) for path in named):
        return ""
    near = difflib.get_close_matches(name, own, cutoff=0.3)
    return f"no such case; the nearest are {', '.join(near)}" if near else "no such case in any test"


def presets() -> list[str]:
    text = _scala("Presets")
    return re.findall(r'^\s*"(\w+)" ->', text, re.MULTILINE)


def build_name(text: str) -> str:
    """A preset, or a preset and changed fields: default,flows=64. The elaboration checks the fields' values."""
    preset, *changes = text.split(",")
    if preset not in presets():
        return f"use {', '.join(presets())}"
    fields = re.findall(r'^\s*"(\w+)" -> \(\(config, value\)', _scala("BuildName"), re.MULTILINE)
    wrong = [change for change in changes if not re.fullmatch(rf"({'|'.join(fields)})=\w+", change)]
    return f"use FIELD=VALUE after the preset, FIELD one of {', '.join(fields)}" if wrong else ""


def policies(family: str = "") -> list[str]:
    """Those of the registry, and those of POLICY_PATH."""
    text = _scala("Policies")
    lists = re.findall(r"val (startup|steady): Seq\[\w+\] = Seq\(([^)]*)\)", text)
    found = [name.lower() for kind, names in lists if family in ("", kind) for name in re.findall(r"\w+", names)]
    outside = os.environ.get("POLICY_PATH", "")
    for kind in (family,) if family else ("startup", "steady"):
        found += [path.stem.lower() for path in sorted(Path(outside, kind).glob("*.scala")) if outside]
    return found


def modules() -> list[str]:
    """Those of Modules.scala, and one for each policy and for each calculator."""
    own = re.findall(r'^\s*"(\w+)" ->', _scala("Modules"), re.MULTILINE)
    texts = [path.read_text() for path in sorted((RTL / "calculation").glob("*.scala"))]
    calculators = [name for text in texts for name in re.findall(r'^\s*val name = "(\w+)"', text, re.MULTILINE)]
    own += [f"Policy{name.capitalize()}" for name in policies()]
    return sorted({*own, *(f"Calculator{name.capitalize()}" for name in calculators)})


def boards() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "constraints").glob("*/board.toml"))


def tables() -> list[str]:
    text = (ROOT / "sim" / "experiments" / "carson" / "__main__.py").read_text()
    return re.findall(r'^\s*Case\(\s*"([\d.]+)"', text, re.MULTILINE)


def _scala(name: str) -> str:
    """The text of NAME.scala, whatever package it is in."""
    return next(RTL.rglob(f"{name}.scala")).read_text()


def _folders() -> str:
    return ", ".join(sorted({path.parent.name for folder in FOLDERS for path in (ROOT / folder).rglob("test_*.py")}))


def _python_files() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def _functions(path: Path) -> list[str]:
    return re.findall(r"^(?:async )?def (\w+)", path.read_text(), re.MULTILINE)


TESTS = ("test", "soak")
FPGA = ("fmax", "bitstream")
NETWORK = ("sim", "interop", "matrix", "packetdrill", "policies", "gap", "fuzz", "bench", "experiment")

VARIABLES = (
    Variable("TEST", TESTS, test),
    Variable("CASE", (*TESTS, "lint"), case),
    Variable("SEED", (*TESTS, "lint", "mutants", *NETWORK, *FPGA), whole(1, LARGEST_SEED)),
    Variable("JOBS", (*TESTS, "lint", "mutants", "gap", "bench", "experiment", "fmax"), whole(1, 256)),
    Variable("JOBS", ("matrix",), whole(0, 256)),
    Variable("PRESET", (*TESTS, "lint", "rtl", "generate", "formal", "synth", "fmax"), build_name),
    Variable("MODULE", ("synth",), among(modules, several=" ")),
    Variable("MODULE", ("rtl", "fmax"), among(modules)),
    Variable("POLICY", ("policies",), among(policies)),
    Variable("STARTUP", ("sim", "experiment"), among(lambda: [*policies("startup"), "all"])),
    Variable("STEADY", ("sim", "experiment"), among(lambda: [*policies("steady"), "all"])),
    Variable("NAME", ("bench",), among(lambda: BENCHES)),
    Variable("NAME", ("experiment",), among(lambda: EXPERIMENTS)),
    Variable("KIND", ("new-policy",), among(lambda: ("startup", "steady"))),
    Variable("BOARD", ("bitstream",), among(boards)),
    Variable("TARGET", ("synth",), among(lambda: ("ecp5", "xcup"))),
    Variable("GRADE", ("fmax",), among(lambda: ("6", "7", "8", "8_5G"))),
    Variable("FLOWS", ("synth",), power_of_two(4, 32768)),
    Variable("EVENTS", ("policies",), whole(1, LARGEST_COUNT)),
    Variable("RUNS", ("experiment",), whole(1, 100_000)),
    Variable("SEEDS", ("experiment",), whole(1, 100_000)),
    Variable("N", ("mutants",), whole(1, 100_000)),
    Variable("TABLE", ("experiment",), among(tables, several=",")),
    Variable("FRAMES", ("fuzz", "bench"), whole(1, LARGEST_COUNT)),
    Variable("CONNECTIONS", ("bench",), whole(1, LARGEST_COUNT)),
    Variable("CELLS", ("matrix",), whole(0, 1_000_000)),
    Variable("DURATION", ("bench", "experiment"), seconds(100_000)),
    Variable("SIZE", ("sim", "interop", "matrix"), byte_count),
    Variable("SCHEDULE", ("gap",), readable_file),
)


def refusal(targets: Sequence[str]) -> str:
    """The first wrong variable of these targets in one line; empty when all are right."""
    for variable in VARIABLES:
        text = os.environ.get(variable.name, "")
        instead = variable.check(text) if text and not set(targets).isdisjoint(variable.targets) else ""
        if instead:
            shown = " ".join(text.split())
            return f"{variable.name}={shown if len(shown) <= SHOWN else shown[:SHOWN] + '...'}: {instead}"
    return ""


def main(targets: Sequence[str]) -> int:
    refused = refusal(targets)
    if refused:
        print(refused, file=sys.stderr)
    return 2 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
