# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap selftest`: what the instrument itself gets wrong, over a virtual cable that adds the kernel's work only."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

from downbeat.gap import live, veth
from downbeat.gap.analysis import Analysis

LENGTH = 200  # bytes of a frame
RATE = "10Gb/s"


def run(frames: int, gap: int, directory: Path) -> dict[str, Analysis]:
    """Sends equally spaced frames (gap in ns) and takes the three comparisons of `gap live`."""
    schedule = directory / "schedule.csv"
    lines = ["launch_ns,length", *(f"{number * gap},{LENGTH}" for number in range(frames))]
    schedule.write_text("\n".join(lines) + "\n")
    veth.enter()
    sender, receiver = veth.ENDS
    return live.both(
        schedule, receiver, sender, ["--to", veth.ADDRESS, "--rate", RATE], one_way=True, common_time=False
    )


def clock_step(readings: int = 20_000) -> int:
    """The smallest difference of two readings of the system's clock that is not zero, in ns: it bounds what stamps can tell."""
    times = [time.clock_gettime_ns(time.CLOCK_REALTIME) for _ in range(readings)]
    return min(after - before for before, after in itertools.pairwise(times) if after > before)
