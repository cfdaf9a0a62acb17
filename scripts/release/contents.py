# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A release's files: their paths and bytes. Nothing in them depends on the day or the
machine."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from scripts.release import cores, sbom

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("Downbeat", "DownbeatAxi", "DownbeatGmii")
WITH_CROSSINGS = ("DownbeatGmii", "DownbeatXgmii")
# The folder of each build, and the build's name as `make rtl PRESET=` takes it. The presets of simulations are not
# here.
BUILDS = {
    "default": "default",
    "small": "small",
    "lean": "lean",
    "board": "board",
    "external": "default,externalMemory=true",
    "host": "default,hostPorts=4",
    "ten": "ten",
}
TOPS_OF = {
    "host": ("DownbeatHost",),
    "ten": ("Downbeat", "DownbeatAxi", "DownbeatXgmii"),
}  # other builds have all of TOPS
# Files that a preset's elaboration writes besides the Verilog of the tops.
GENERATED = (
    *("downbeat_layout.h", "downbeat_layout.json", "downbeat_event.h"),
    *("downbeat_registers.h", "downbeat_registers.rdl", "downbeat_registers.json"),
)
# From the tree, under the same paths, so that the scripts find one another.
COPIED = (
    *("LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md"),
    *("constraints/common/crossings.xdc", "constraints/kc705/kc705.xdc"),
    *("scripts/lint/waivers.vlt", "scripts/vivado/interfaces.tcl", "scripts/vivado/package.tcl"),
    "scripts/vivado/kc705.tcl",
)
EXAMPLES = Path("docs/examples")
PAGES = Path("docs")  # the examples name some, which link the others
LICENCES = Path("scripts/release/licences")


def version() -> str:
    """The version in pom.xml; lint compares it with the RTL's."""
    found = re.search(r"<artifactId>downbeat</artifactId>\s*<version>([\d.]+)</version>", _read("pom.xml"))
    assert found
    return found[1]


def tops(folder: str) -> tuple[str, ...]:
    return TOPS_OF.get(folder, TOPS)


def generated(folder: str) -> tuple[str, ...]:
    return (*GENERATED, "downbeat_host.h") if "DownbeatHost" in tops(folder) else GENERATED


def files(elaborated: dict[str, Path]) -> dict[str, bytes]:
    """Files of the builds elaborated in those directories, by the builds' folders."""
    found = {name: (ROOT / name).read_bytes() for name in COPIED}
    for path in sorted((ROOT / EXAMPLES).glob("*.*")):  # a test's Python leaves __pycache__ there
        found[f"examples/{path.name}"] = path.read_bytes()
    for path in sorted((ROOT / PAGES).rglob("*.md")):
        found[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    for path in sorted((ROOT / LICENCES).iterdir()):
        found[f"licences/{path.name}"] = path.read_bytes()
    for folder, place in elaborated.items():
        for name in (*(f"{top}.v" for top in tops(folder)), *generated(folder)):
            found[f"{folder}/{name}"] = (place / name).read_bytes()
        found[f"{folder}/ports.md"] = ports(place, folder).encode()
        found[cores.file_name(folder)] = cores.core(folder, version(), tops(folder)).encode()
    found["downbeat.f"] = cores.file_list(next(iter(elaborated))).encode()
    found["README.md"] = readme(list(elaborated)).encode()
    found["sbom.cdx.json"] = sbom.document(version(), found, _read("pom.xml")).encode()
    sums = (f"{hashlib.sha256(found[name]).hexdigest()}  {name}\n" for name in sorted(found))
    return found | {"SHA256SUMS": "".join(sums).encode()}


def ports(place: Path, folder: str) -> str:
    """The ports of the tops of one build, and the crossings between its clocks."""
    lines = [f"# Ports of the build `{BUILDS[folder]}`", "", "TDATA byte 0 is the first byte of the wire."]
    for top in tops(folder):
        rows = (place / f"{top}.ports").read_text().rstrip()
        lines += ["", f"## {top}", "", "| port | bits | |", "|---|---|---|", rows]
    for top in (top for top in tops(folder) if top in WITH_CROSSINGS):
        crossings = (place / f"{top}.crossings").read_text().rstrip()
        lines += ["", f"## Crossings of {top}", "", "| register | from | to |", "|---|---|---|", crossings]
    return "\n".join(lines) + "\n"


def readme(folders: list[str]) -> str:
    """The first page of a release."""
    builds = "\n".join(f"| `{folder}` | `{BUILDS[folder]}` | `{cores.name(folder)}` |" for folder in folders)
    return (ROOT / "scripts" / "release" / "readme.md").read_text().format(version=version(), builds=builds)


def _read(name: str) -> str:
    return (ROOT / name).read_text()
