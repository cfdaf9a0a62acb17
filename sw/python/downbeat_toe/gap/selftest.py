# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap selftest`: what the instrument itself gets wrong, over a virtual cable that adds the kernel's work
only.

Its report has the distribution of the stamps' errors, from which `downbeat gap` computes the floor of other
measurements.
"""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from downbeat_toe.gap import live, uncertainty, veth
from downbeat_toe.gap.analysis import Analysis
from downbeat_toe.gap.verdict import Stamping
from downbeat_toe.refused import Refused

LENGTH = 200  # bytes of a frame
RATE = "10Gb/s"
STAMPS = "arrivals against departures"  # the comparison that has the errors of stamps alone
NAME = "gap-selftest"


def run(frames: int, gap: int, directory: Path) -> dict[str, Analysis]:
    """Sends equally spaced frames (gap in ns) and takes the three comparisons of `gap live`."""
    schedule = directory / "schedule.csv"
    lines = ["launch_ns,length", *(f"{number * gap},{LENGTH}" for number in range(frames))]
    schedule.write_text("\n".join(lines) + "\n")
    veth.enter()
    sender, receiver = veth.ENDS
    return live.both(
        schedule,
        receiver,
        sender,
        ["--to", veth.ADDRESS, "--rate", RATE],
        one_way=True,
        common_time=False,
        keep_drift=False,
    )


def floor(stamps: Analysis) -> dict[str, Any]:
    """What the report says of the stamps: the distribution of gap errors and its half width at 95 %, in ns."""
    quantiles = uncertainty.quantiles(stamps.gap_errors)
    cause = uncertainty.measured("", np.array(quantiles))
    return {"gaps": len(stamps.gap_errors), "half_width_ns": uncertainty.half_width([cause]), "quantiles_ns": quantiles}


def load(path: Path) -> Stamping:
    """The kernel's stamps as a self-test's report knows them."""
    try:
        quantiles = np.array(json.loads(path.read_text())["floor"]["quantiles_ns"], dtype=float)
    except OSError as error:
        raise Refused(f"--selftest {path}: {error.strerror}; downbeat gap selftest writes {NAME}.json") from None
    except (ValueError, KeyError, TypeError):
        quantiles = np.array([])
    if quantiles.ndim != 1 or len(quantiles) < 2 or not np.isfinite(quantiles).all() or (np.diff(quantiles) < 0).any():
        raise Refused(
            f"--selftest {path}: not a report of downbeat gap selftest, or of an earlier version: run it again"
        )
    return Stamping(True, quantiles, str(path))


def clock_step(readings: int = 20_000) -> int:
    """The smallest difference of two readings of the system's clock that is not zero, in ns: it bounds what stamps can
    tell."""
    times = [time.clock_gettime_ns(time.CLOCK_REALTIME) for _ in range(readings)]
    return min(after - before for before, after in itertools.pairwise(times) if after > before)
