# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs one case of the gap bench."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from sim.bench.gap.cases import Case
from sim.bench.gap.checks import failures

LIMIT_SECONDS = 1800  # wall time; the longest takes a few minutes on a quiet machine


def run(case: Case, seed: int, program: Path, quick: bool = False) -> dict[str, Any]:
    """The figures of the case, with its `failures` in words. `program` is gap_bench."""
    arguments = case.arguments(seed, quick)
    start = {"case": case.name, "command": " ".join(["gap_bench", *arguments])}
    lost = {**start, "frames": 0, "simulated_clocks": 0}
    try:
        done = subprocess.run(
            [program, *arguments],
            input=case.read(seed, quick),
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {**lost, "failures": [f"not done within {LIMIT_SECONDS} s of wall time"]}
    if done.returncode:
        return {**lost, "failures": [f"gap_bench: {done.stderr.strip()[-500:]}"]}
    figures: dict[str, Any] = json.loads(done.stdout)
    figures.pop("stamps", None)  # one for every frame: no figure
    return {**start, **figures, "failures": failures(case, figures)}
