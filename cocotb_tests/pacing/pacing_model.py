# SPDX-License-Identifier: BSD-2-Clause-Patent
"""When a paced flow's segments depart, in exact fractions of a nanosecond."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

SPACING_FRACTION = 1 << 32
LAUNCH_FRACTION = 1 << 16


def spacing(bits_per_second: Fraction | int) -> int:
    """The rate as a spacing: ns per byte with 32 fraction bits, to the nearest."""
    return round(Fraction(8 * 10**9 * SPACING_FRACTION) / bits_per_second)


def launch(departure: Fraction) -> int:
    """A departure as a launch time: 2^-16 ns, never early."""
    return math.ceil(departure * LAUNCH_FRACTION)


@dataclass
class PacedFlow:
    """`book` gives the departure of the flow's next segment; `granted` makes it the one before."""

    lead: int  # ns
    before: Fraction | None = None
    booked: Fraction | None = None

    def book(self, now: Fraction, spacing: int, previous_length: int, *, first: bool = False) -> Fraction:
        """By ns per byte, 32 fraction bits; zero: not paced."""
        if spacing == 0:
            self.booked = now
            return now
        return self.apart(now, Fraction(previous_length * spacing, SPACING_FRACTION), first=first)

    def apart(self, now: Fraction, interval: Fraction, *, burst: int = 0, first: bool = False) -> Fraction:
        """`interval` ns after the one before; a pause saves up 2^burst - 1 intervals at most."""
        self.booked = now + self.lead
        if not first and self.before is not None:
            self.booked = max(self.before + interval, now + self.lead - (2**burst - 1) * interval)
        return self.booked

    def granted(self) -> None:
        self.before = self.booked
