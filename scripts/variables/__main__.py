# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`python -m scripts.variables TARGET...`: the first wrong variable of these targets, in one line.

The values come from the environment, where make puts its variables; an empty one counts as unset. The names come from
make's own command line, so that a misspelled one is not passed over.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.ecp5.bitstream.board import BoardRefused, load, with_core
from scripts.variables.names import ROOT
from scripts.variables.schema import VARIABLES
from sim.experiments.names import PROGRAMS_TAKE

SHOWN = 60  # characters of a value in a refusal


def refusal(targets: Sequence[str]) -> str:
    """The first wrong variable of these targets in one line; empty when all are right."""
    for variable in VARIABLES:
        text = os.environ.get(variable.name, "")
        instead = variable.check(text) if text and not set(targets).isdisjoint(variable.targets) else ""
        if instead:
            shown = " ".join(text.split())
            return f"{variable.name}={shown if len(shown) <= SHOWN else shown[:SHOWN] + '...'}: {instead}"
    return ""


def unknown(targets: Sequence[str], command_line: str) -> str:
    """A variable of the command line (MAKEFLAGS) that no target takes; empty when there is none."""
    for name in given(command_line):
        known = known_names(ROOT / "Makefile")
        if name in known:
            continue
        takes = sorted({variable.name for variable in VARIABLES if not set(targets).isdisjoint(variable.targets)})
        near = difflib.get_close_matches(name.upper(), known, n=1)
        hint = f"do you mean {near[0]}? " if near else ""
        what = f"make {' '.join(targets)} takes {', '.join(takes)}" if takes else f"make {' '.join(targets)} takes none"
        return f"{name}: no such variable; {hint}{what}"
    return ""


def misplaced(targets: Sequence[str], command_line: str) -> str:
    """A variable of the command line that other targets take, but none of these; empty when there is none.

    Of targets that help does not list, as files, nothing is known.
    """
    listed = dict(re.findall(r"^([a-z-]+):.*?## (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
    if not targets or not listed.keys() >= set(targets):
        return ""
    takes = {word for target in targets for word in re.findall(r"\b[A-Z][A-Z_]*\b", listed[target].partition("[")[2])}
    takes |= {variable.name for variable in VARIABLES if not set(targets).isdisjoint(variable.targets)}
    for name in given(command_line):
        if name not in takes and name in {variable.name for variable in VARIABLES}:
            others = sorted({target for each in VARIABLES if each.name == name for target in each.targets})
            return f"{name}: make {' '.join(targets)} does not take it; it is of make {', '.join(others)}"
    return ""


def unread(targets: Sequence[str], command_line: str) -> str:
    """A variable that the experiments' files take and the program NAME does not; empty when there is none."""
    program = os.environ.get("NAME", "")
    if "experiment" not in targets or program not in PROGRAMS_TAKE:
        return ""
    files = {variable.name for variable in VARIABLES if "experiments" in variable.targets} - {"POLICY_PATH"}
    takes = PROGRAMS_TAKE[program]
    wrong = next((name for name in given(command_line) if name in files and name not in takes), "")
    return f"{wrong}: NAME={program} does not take it; it takes {', '.join(takes)}" if wrong else ""


def unfit(targets: Sequence[str]) -> str:
    """Why the board cannot have the core with these policies and flows; empty when it can, or is not asked to."""
    flows = os.environ.get("FLOWS", "")
    if "bitstream" in targets:
        try:
            board = load(os.environ.get("BOARD") or "colorlight-i9")
            with_core(board, os.environ.get("POLICIES", ""), int(flows) if flows else None)
        except BoardRefused as refused:
            return str(refused)
    return ""


def given(command_line: str) -> list[str]:
    """Names of `-- NAME=value NAME=two\\ words`, as make passes them on."""
    words = re.findall(r"(?:\\.|[^\s\\])+", f" {command_line}".partition(" -- ")[2])
    return [word.partition("=")[0].rstrip(":+?") for word in words if "=" in word]


def known_names(makefile: Path) -> set[str]:
    """The schema's, and what else the Makefile reads, sets or hands on."""
    text = makefile.read_text()
    read = re.findall(r"\$\((\w+)\)", text) + re.findall(r"^(\w+) *[:?+]?=", text, re.MULTILINE)
    handed_on = [word for line in re.findall(r"^export (.*)$", text, re.MULTILINE) for word in line.split()]
    return {*read, *handed_on, *(variable.name for variable in VARIABLES)}


def main(targets: Sequence[str]) -> int:
    flags = os.environ.get("MAKEFLAGS", "")
    refused = refusal(targets) or unknown(targets, flags) or misplaced(targets, flags) or unread(targets, flags)
    refused = refused or unfit(targets)
    if refused:
        print(refused, file=sys.stderr)
    return 2 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
