# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The step of a clock, from its stamps; and stamps that several frames share."""

from __future__ import annotations

import numpy as np

from downbeat_toe.gap.statistics import Floats, Indices
from downbeat_toe.schedule import Flags, Integers

CLOCK_STEPS = (1000, 512, 256, 128, 100, 64, 50, 40, 32, 25, 20, 16, 12, 10, 8, 6, 5, 4, 2, 1)  # ns, that clocks have


FASTEST = 400e9  # b/s
BETWEEN = 20  # bytes of preamble and gap on the wire (IEEE 802.3)
SMALLEST = 64  # bytes


def batched(lengths: Integers, apart: Floats, step: int) -> Flags:
    """Which frames were stamped nearer to the one before (`apart`, ns) than any wire brings them."""
    wire = (np.maximum(lengths, SMALLEST) + BETWEEN) * 8 / FASTEST * 1e9
    return np.asarray(apart + step < wire)


def apart(stamps: Indices) -> int:
    """The largest time of which all differences of stamps are multiples; 0: they are all the same. In ns."""
    return int(np.gcd.reduce(np.diff(np.sort(stamps)))) if len(stamps) > 1 else 0


def clock_step(multiple: int) -> int:
    """The largest step of a clock that explains why stamps are `multiple` ns apart: a regular flow is no coarse
    clock."""
    return next((step for step in CLOCK_STEPS if multiple % step == 0), 1) if multiple else 1
