# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make mutants`: N mistakes drawn by SEED in the core's Verilog or in the host software's C++, and which tests notice
them; build/reports/mutants.json.

MODULE: classes, Verilog modules or files to draw from; or parts of the host software (gateway, driver, estimator, host
for all three), their folders and files. Exit status 1 if a test fails without a mutant; a survivor is something to look
at, not a failure.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from scripts.mutants.campaign import Campaign, Verdict, described
from scripts.mutants.draw import draw
from scripts.mutants.files import Files
from scripts.mutants.host import campaign as host
from scripts.mutants.host.parts import units
from scripts.mutants.place import REPORT, ROOT
from scripts.mutants.sessions import sessions

DRAWN, SEED, JOBS = 24, 1, 2


def main() -> int:
    os.chdir(ROOT)
    count, seed, jobs = (_number(name, default) for name, default in (("N", DRAWN), ("SEED", SEED), ("JOBS", JOBS)))
    wanted = os.environ.get("MODULE", "").split()
    begun = time.monotonic()
    campaign: Campaign | host.Campaign
    if any(units([word]) for word in wanted):
        if wrong := [word for word in wanted if not units([word])]:
            print(f"MODULE={' '.join(wanted)}: {wrong[0]} is not of the host software", file=sys.stderr)
            return 2
        campaign = host.Campaign(wanted, count, seed, jobs, say)
    else:
        files = Files(sessions())
        mutants = draw(files, count, seed, wanted)
        if not mutants:
            print(f"MODULE={' '.join(wanted)}: no test runs on such a module", file=sys.stderr)
            return 2
        campaign = Campaign(files, mutants, jobs, say)
    verdicts = campaign.run()
    if len(verdicts) < count:
        say(f"{len(verdicts)} different mutants found for N={count}")
    survivors = [verdict for verdict in verdicts if not verdict.killed_by]
    for verdict in survivors:
        say(f"SURVIVED {described(verdict.mutant)}\n         {unseen(verdict)}")
    wall = time.monotonic() - begun
    report = summary(seed, verdicts, campaign, wall)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    say(
        f"seed {seed}: {len(verdicts)} drawn, {report['killed']} killed ({report['timed_out']} by time out), "
        f"{len(survivors)} survived; {wall:.0f} s, of them {report['seconds']['builds']:.0f} s building, "
        f"{report['seconds']['a_mutant']:.1f} s simulating a mutant"
    )
    return int(bool(campaign.broken))


def unseen(verdict: Verdict) -> str:
    """Why it lives: the tests that it changed something for, or that there are none."""
    if verdict.passed:
        return f"changes something, unseen by {', '.join(verdict.passed)}"
    return f"never runs or changes anything in {len(verdict.same)} test modules: no test goes there, or nothing can"


def say(line: str) -> None:
    print(line, flush=True)


def summary(seed: int, verdicts: Sequence[Verdict], campaign: Campaign | host.Campaign, wall: float) -> dict[str, Any]:
    """The contents of build/reports/mutants.json."""
    survived = [verdict for verdict in verdicts if not verdict.killed_by]
    simulated = sum(verdict.seconds for verdict in verdicts)
    return {
        "seed": seed,
        "drawn": len(verdicts),
        "killed": len(verdicts) - len(survived),
        "timed_out": sum(verdict.end == "timed out" for verdict in verdicts),
        "parts": [part(name, verdicts) for name in sorted({verdict.mutant.folder for verdict in verdicts})],
        "survived": [record(verdict) for verdict in survived],
        "mutants": [record(verdict) for verdict in verdicts],
        "broken": campaign.broken,
        "seconds": {
            "wall": round(wall, 1),
            "builds": round(campaign.build_seconds, 1),
            "without_mutant": round(campaign.alone_seconds, 1),
            "a_mutant": round(simulated / max(len(verdicts), 1), 1),
        },
    }


def part(name: str, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """A folder of the RTL, or a part of the host software."""
    own = [verdict for verdict in verdicts if verdict.mutant.folder == name]
    killed = sum(bool(verdict.killed_by) for verdict in own)
    timed_out = sum(verdict.end == "timed out" for verdict in own)
    return {"part": name, "drawn": len(own), "killed": killed, "timed_out": timed_out, "survived": len(own) - killed}


def record(verdict: Verdict) -> dict[str, Any]:
    """One mutant's place and end."""
    mutant = verdict.mutant
    return {
        "number": mutant.number,
        "kind": mutant.kind,
        "folder": mutant.folder,
        "file": mutant.file,
        "module": mutant.within,
        "line": mutant.line,
        "signal": mutant.signal,
        "statement": mutant.statement,
        "original": mutant.original,
        "changed": mutant.changed,
        "killed_by": verdict.killed_by,
        "case": verdict.case,
        "end": verdict.end,
        "seconds": round(verdict.seconds, 1),
        "passed": verdict.passed,
        "same": verdict.same,
    }


def _number(name: str, default: int) -> int:
    given = os.environ.get(name) or str(default)
    if not given.isdecimal():
        sys.exit(f"{name}={given}: a whole number")
    return int(given)


if __name__ == "__main__":
    sys.exit(main())
