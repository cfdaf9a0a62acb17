# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs a test module in a copy of the tree, and tells which lines of C++ it reached."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.host.parts import LEFT_OUT_CASES, Tree

SLACK_SECONDS, SLACK_FACTOR = 60, 8  # how much longer than without a mutant a module may take
ALONE_SECONDS = 600
MEMORY_BYTES, FILE_BYTES = 16 << 30, 1 << 29  # a mutant may fill either
Lines = dict[str, dict[int, bool]]  # those with code in each file, and whether they ran


@dataclass(frozen=True)
class Outcome:
    """`end`: passed, failed, crashed or `timed out`; `case` failed first."""

    end: str
    case: str
    seconds: float


def run(tree: Tree, session: str, alone: float | None) -> Outcome:
    """`alone`: its seconds without a mutant; None where that is to be measured."""
    bound = ALONE_SECONDS if alone is None else SLACK_SECONDS + SLACK_FACTOR * alone
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    command += ["-k", LEFT_OUT_CASES, session]
    begun = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=tree.place,
        env=tree.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=_limit,
    )
    try:
        output = process.communicate(timeout=bound)[0]
        end = {0: "passed", 5: "passed", 1: "failed"}.get(process.returncode, "crashed")
    except subprocess.TimeoutExpired:
        output, end = "", "timed out"
    with contextlib.suppress(ProcessLookupError):  # processes that the module left running
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    failed = re.search(r"^(?:FAILED|ERROR) \S+?::(\S+)", output, re.MULTILINE)
    return Outcome(end, failed[1] if failed else "", time.monotonic() - begun)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def covered(tree: Tree, session: str) -> tuple[Outcome, Lines]:
    """The session without a mutant, and the lines that it ran."""
    for counts in (tree.place / "build").rglob("*.gcda"):
        counts.unlink()
    outcome = run(tree, session, None)
    lines: Lines = {}
    for counts in sorted((tree.place / "build").rglob("*.gcda")):
        command = ["gcov", "--json-format", "--stdout", counts.name]
        done = subprocess.run(command, cwd=counts.parent, capture_output=True, text=True, check=False)
        for text in filter(None, done.stdout.splitlines()):
            found = json.loads(text)
            for file in found["files"]:
                path = (Path(found["current_working_directory"]) / file["file"]).resolve()
                if path.is_relative_to(tree.place):
                    held = lines.setdefault(str(path.relative_to(tree.place)), {})
                    for line in file["lines"]:
                        held[line["line_number"]] = held.get(line["line_number"], False) or line["count"] > 0
    return outcome, lines
