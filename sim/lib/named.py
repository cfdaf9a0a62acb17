# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=` and `make experiment NAME=`: a list of programs, of which NAME chooses one."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Mapping


def choose(target: str, programs: Mapping[str, tuple[str, str]]) -> int:
    """Runs the program that the variable NAME names; `programs`: by name its Python module and what it does.

    Without NAME the programs are listed. An unknown one is refused in one line.
    """
    name = os.environ.get("NAME", "")
    if not name:
        for each, (_, does) in programs.items():
            print(f"  make {target} NAME={each:<10} {does}")
        return 0
    if name not in programs:
        print(f"NAME={name}: there is no such {target}, use {', '.join(programs)}", file=sys.stderr)
        return 2
    runpy.run_module(programs[name][0], run_name="__main__", alter_sys=True)
    return 0
