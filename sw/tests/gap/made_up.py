# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Captures whose true gaps are known, for the coverage of the verdict's interval.

A receiver stamps frames that pass at known times: its clock has another rate and phase, its stamps a step and perhaps
an error. Nothing here is taken from the code that judges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from downbeat_toe.gap import frames
from downbeat_toe.gap.analysis import Analysis, analyse
from downbeat_toe.gap.statistics import Floats
from downbeat_toe.schedule import Schedule

Draw = np.random.Generator
Errors = Callable[[Draw, int], Floats]  # ns, of so many stamps


@dataclass(frozen=True)
class Instrument:
    step: int  # ns: of the stamps
    path: float = 0.0  # ns: mean of each frame's own delay, which is exponential
    error: Errors | None = None  # of a stamp before it is cut
    ppm: float = 100.0  # the clock is at most so far off


def captured(draw: Draw, instrument: Instrument, count: int, gap: float) -> tuple[Analysis, Floats]:
    """What `downbeat gap` makes of such a capture; and the true gaps between neighbours, in the schedule's time
    (ns)."""
    apart = gap * draw.uniform(0.95, 1.05, count)
    launch = np.cumsum(np.rint(apart)).astype(np.int64)
    passed = launch + 5000.0 + (draw.exponential(instrument.path, count) if instrument.path else 0.0)
    passed = np.maximum.accumulate(passed)
    clock = passed * (1 + draw.uniform(-instrument.ppm, instrument.ppm) * 1e-6) + draw.uniform(0, 1e6)
    if instrument.error is not None:
        clock = clock + instrument.error(draw, count)
    stamps = (np.floor(clock / instrument.step) * instrument.step).astype(np.int64)
    names, numbers = ("0",) * count, np.arange(count)
    lengths, none = np.full(count, 100), np.zeros(count, dtype=bool)
    planned = Schedule("made up", "probe", launch, lengths, names, numbers, none)
    found = frames.Frames(stamps, names, numbers, lengths, step=instrument.step)
    return analyse(planned, found, "made up", "made up"), np.diff(passed)
