# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which Verilog modules are the project's own, in which tested files they stand, and which tests are near each."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.place import ROOT, RTL
from scripts.mutants.sessions import Session
from scripts.mutants.verilog import Module, modules

CLASS = re.compile(r"^\s*(?:private\s+|final\s+)*(?:case\s+)?class\s+(\w+)", re.MULTILINE)
# Folders of rtl/downbeat whose modules make up the core, and how often each gets a turn: the engine has most of the
# logic.
FOLDERS = {
    "engine": 4,
    "rx": 1,
    "tx": 1,
    "flow": 1,
    "memory": 1,
    "neighbour": 1,
    "pacing": 1,
    "mac": 1,
    "congestion": 1,
    "calculation": 1,
    "application": 1,
    "registers": 1,
}
# The whole cores that the broad set runs on, the first one that has the place.
CORES = ("Downbeat", "DownbeatGmii", "DownbeatAxi")


@dataclass(frozen=True)
class Unit:
    """A Scala class that became Verilog modules, and the tested file in which it is mutated."""

    name: str
    folder: str  # under rtl/downbeat
    home: str  # the top whose file it is
    lines: int  # its Verilog's length there


class Files:
    """The Verilog of a directory, for the sessions that run on it."""

    def __init__(self, sessions: Sequence[Session], rtl: Path = RTL, scala: Path = ROOT / "rtl" / "downbeat") -> None:
        self.sessions, self.rtl = tuple(sessions), rtl
        self.classes = _classes(scala)

    @functools.cached_property
    def tops(self) -> dict[str, dict[str, int]]:
        """For each top that tests run on, how many lines each class has in its file."""
        found: dict[str, dict[str, int]] = {}
        for top in sorted({session.top for session in self.sessions}):
            file = self.rtl / f"{top}.v"
            if not file.exists():
                continue
            text = file.read_text()
            lines: dict[str, int] = {}
            for module in re.finditer(r"^module\s+(\w+).*?^endmodule", text, re.MULTILINE | re.DOTALL):
                name = self.class_of(module[1], top)
                if name:
                    lines[name] = lines.get(name, 0) + module[0].count("\n")
            found[top] = lines
        return found

    def class_of(self, module: str, top: str) -> str:
        """The Scala class of a Verilog module: what a top adds to its name tells its configuration. Empty for a
        library's.

        A top that is made around something without a class of its own, as a congestion policy, counts as one.
        """
        name = re.sub(r"_\d+$", "", module)
        if name in self.classes:
            return name
        if module != top:
            return ""
        return max((each for each in self.classes if re.match(rf"{each}(?![a-z])", module)), key=len, default=module)

    def folder(self, name: str) -> str:
        """The class's folder of rtl/downbeat; of a top without a class the folder of the tests that run on it."""
        if name in self.classes:
            return self.classes[name]
        return next((session.folder.partition("/")[0] for session in self.sessions if session.top == name), "")

    @functools.cached_property
    def units(self) -> list[Unit]:
        """Everything that can be mutated."""
        found = []
        for name in sorted({name for lines in self.tops.values() for name in lines}):
            folder = self.folder(name)
            homes = {session.top for session in self.near(name)}
            if not homes:
                continue
            home = min(homes, key=lambda top: (top != name, -self._count(folder, top), self.size(top), top))
            found.append(Unit(name, folder, home, self.tops[home][name]))
        return found

    def near(self, name: str) -> list[Session]:
        """The tests of the class's folder on a top that contains it."""
        folder = self.folder(name)
        return [
            session
            for session in self.sessions
            if session.folder.partition("/")[0] == folder and name in self.tops.get(session.top, {})
        ]

    def broad(self, top: str) -> list[Session]:
        """The core's own tests on one of its tops, each in its plain build."""
        return [each for each in self.sessions if each.top == top and not each.folder and not each.options]

    def size(self, top: str) -> int:
        """Bytes of Verilog, by which its build takes long."""
        return (self.rtl / f"{top}.v").stat().st_size

    @functools.cache  # noqa: B019 (one object for a program's whole run)
    def text(self, top: str) -> str:
        return (self.rtl / f"{top}.v").read_text()

    @functools.cache  # noqa: B019
    def modules(self, top: str) -> list[Module]:
        return modules(self.text(top))

    def of_class(self, top: str, name: str) -> list[Module]:
        """The Verilog modules in a top's file that a class became."""
        return [module for module in self.modules(top) if self.class_of(module.name, top) == name]

    def _count(self, folder: str, top: str) -> int:
        return sum(session.top == top and session.folder.partition("/")[0] == folder for session in self.sessions)


def _classes(scala: Path) -> dict[str, str]:
    """Each Scala class and the folder it stands in."""
    found = {}
    for file in sorted(scala.rglob("*.scala")):
        folder = file.relative_to(scala).parts[0] if file.parent != scala else ""
        for name in CLASS.findall(file.read_text()):
            found[name] = folder
    return found
