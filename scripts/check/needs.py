# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which modules of the RTL the tests of TEST need: their names, or nothing where they are unknown and all are
needed.

`python -m scripts.check.needs TEST`. It uses Python's own library alone: make asks before set-up.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from scripts.check.select import select

ROOT = Path(__file__).resolve().parents[2]
TESTS = Path("cocotb_tests")
REGISTERS = "downbeat_registers.json"  # the module RegisterMap has it made
# A name that is put together, or files that are read by a name that is: the modules are unknown.
PUT_TOGETHER = re.compile(r"f\"[A-Z]\w*\{|\{\w*\}\.v\b|glob\(\"\*\.v")


def needed(root: Path, test: str) -> list[str]:
    """The modules that each chosen file names, or a helper that it imports. A file without any, or no cocotb test,
    needs all."""
    modules = next((root / "rtl").rglob("Modules.scala")).read_text()
    known = set(re.findall(r'"(\w+)" ->', modules))
    at_each_width = "".join(re.findall(r"name <- Seq\((.*?)\)", modules, re.DOTALL))
    wide = set(re.findall(r'"(\w+)"', at_each_width))
    found: set[str] = set()
    for path in select(root, test):
        text = "\n".join(one.read_text() for one in _imported(root, root / path))
        named = {
            word for word in re.findall(r'"(\w+)"', text) if word in known or re.match("(Policy|Calculator)[A-Z]", word)
        }
        soak = bool(os.environ.get("SOAK"))
        if "@each_width\n" in text:
            named |= {f"{module}{width}" for module in named & wide for width in ((16, 32, 64) if soak else (64,))}
        if "@end_widths\n" in text or soak and "@end_widths_in_soak\n" in text:
            named |= {f"{module}64" for module in named & {"Downbeat"}}
        if not named or PUT_TOGETHER.search(text) or not path.is_relative_to(TESTS):
            return []
        found |= named
        if REGISTERS in text:
            found.add("RegisterMap")
    return sorted(found)


def _imported(root: Path, path: Path) -> list[Path]:
    """The file, and what it and those import of the tests; without the bench, which runs any module."""
    found, waiting = [path], [path]
    while waiting:
        for name in re.findall(rf"^(?:from|import) ({TESTS}[\w.]*)", waiting.pop().read_text(), re.MULTILINE):
            place = root / name.replace(".", "/")
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if file.is_file() and file not in found and file.parent.name != "bench":
                    found.append(file)
                    waiting.append(file)
    return found


if __name__ == "__main__":
    print(*needed(ROOT, sys.argv[1]))
