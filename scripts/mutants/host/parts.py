# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The parts of the host software, their sources, tests and builds; and copies of the tree in which they are changed."""

from __future__ import annotations

import functools
import hashlib
import os
import resource
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.place import PLANTED, ROOT

TREES = PLANTED / "host"
# No mutant is judged by a test that builds the sources itself, or whose subject is another sanitizer, compiler or
# installation.
LEFT_OUT = ("install", "sanitized", "headers", "cpython", "dissector", "fuzz")
LEFT_OUT_CASES = "not sanitizers and not fuzz and not install"
COMPILE_SECONDS = 300  # processor time of one file: a machine with other work is slower, not the compiler


@dataclass(frozen=True)
class Part:
    """`turns`: how often it is drawn from. Paths are the tree's; tests are folders, or single modules."""

    name: str
    turns: int
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    make: tuple[str, ...]  # its tests need these; the last one builds the part


PARTS = {
    part.name: part
    for part in (
        Part(
            "gateway",
            2,
            ("sw/gateway/client", "sw/gateway/server", "sw/gateway/wire"),
            ("sw/tests/gateway", "sw/tests/driver/test_driver_gateway.py"),
            ("sw/driver", "sw/gateway"),
        ),
        Part(
            "driver",
            2,
            ("sw/core", "sw/driver/nic", "sw/driver/src"),
            ("sw/tests/driver", "sw/tests/core"),
            ("sw/gateway", "sw/driver"),
        ),
        Part("estimator", 1, ("sw/estimator/src",), ("sw/tests/estimator",), ("sw/estimator",)),
    )
}


@dataclass(frozen=True)
class Unit:
    """A source file, by its path in the tree."""

    part: Part
    path: str

    @functools.cached_property
    def text(self) -> str:
        return (ROOT / self.path).read_text()


def units(wanted: Iterable[str]) -> list[Unit]:
    """The files of parts or folders, or those that are named."""
    found = [
        Unit(part, str(path.relative_to(ROOT)))
        for part in PARTS.values()
        for folder in part.sources
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".cpp", ".h")
    ]
    names = tuple(wanted)
    return [unit for unit in found if "host" in names or unit.part.name in names or unit.path.startswith(names)]


def tests(part: Part) -> list[Path]:
    """The files that its test modules are made of."""
    return sorted(path for name in part.tests for path in _files(name, "**/*.py"))


def sessions(part: Part) -> list[str]:
    """Its test modules."""
    modules = [path for name in part.tests for path in _files(name, "test_*.py")]
    return [str(path.relative_to(ROOT)) for path in modules if not path.stem.endswith(LEFT_OUT)]


def _files(name: str, pattern: str) -> list[Path]:
    path = ROOT / name
    return [path] if path.is_file() else sorted(path.glob(pattern))


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (COMPILE_SECONDS, COMPILE_SECONDS))


class Tree:
    """A copy of the tree, with its own builds; `covered`: they count how often each line runs."""

    def __init__(self, name: str, covered: bool = False) -> None:
        self.place = TREES / name
        self.original: dict[Part, dict[str, str]] = {}  # hashes of the objects without a mutant
        self.compiler = "g++ -w --coverage -fprofile-update=atomic" if covered else "g++ -w"
        self.environment = os.environ | {
            "DOWNBEAT_ROOT": str(self.place),
            "DOWNBEAT_DRIVER": str(self.place / "build" / "driver"),
            "DOWNBEAT_BUILT": "1",
            "DOWNBEAT_UNTRAINED": "1",
            "PYTHONPATH": f"{self.place}:{self.place / 'sw' / 'python'}",
            "SEED": "1",
        }
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "SOAK", "MODULE", "N", "TEST", "CASE"):
            self.environment.pop(name, None)

    def update(self) -> list[str]:
        """Takes the tree's own files, without what is built; those that are the same keep their time. The paths of
        those that are others."""
        changed = []
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, names):
            of, to = ROOT / name, self.place / name
            if not of.is_file() or (to.is_file() and to.read_bytes() == of.read_bytes()):
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(of, to)
            shutil.copymode(of, to)
            changed.append(name)
        (self.place / "build").mkdir(exist_ok=True)
        (self.place / "build" / "venv.path").write_text(os.environ.get("DOWNBEAT_VENV", str(ROOT / "build" / "venv")))
        return changed

    def build(self, folders: Iterable[str]) -> str:
        """The compiler's errors, empty where there are none."""
        for folder in folders:
            command = ["make", "-s", "-j2", "-C", folder, f"CXX={self.compiler}"]
            done = subprocess.run(
                command, cwd=self.place, env=self.environment, capture_output=True, text=True, preexec_fn=_limit
            )
            if done.returncode:
                return done.stderr or "make fails"
        return ""

    def objects(self, part: Part) -> dict[str, str]:
        """Hashes of the part's objects."""
        out = self.place / "build" / part.make[-1].rpartition("/")[2]
        return {str(path): hashlib.sha1(path.read_bytes()).hexdigest() for path in sorted(out.rglob("*.o"))}

    def write(self, path: str, text: str) -> None:
        (self.place / path).write_text(text)
