# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A PI servo that makes one time base follow another by stamps of the other's pulses (docs/reference/time.md).

It asks for two things that the registers do without a step: another increment (the frequency), and a slew that spreads
the offset over half the time to the next pulse (the phase). Gains as linuxptp's for hardware stamps: 0.7 of each offset
at once, 0.3 of it into the frequency.
"""

from __future__ import annotations

from dataclasses import dataclass, field

PROPORTIONAL, INTEGRAL = 0.7, 0.3
FRACTION = 1 << 32
LARGEST_SLEW = 0x7FFFFFFF  # 2^-32 ns a clock
SLEW_SHARE = 0.5  # of the time to the next pulse, so that a slew is over before it


@dataclass(frozen=True)
class Correction:
    """What to write: 2^-32 ns a clock, and for a slew how many clocks."""

    increment: int
    slew_per_clock: int
    slew_clocks: int


@dataclass
class Servo:
    """`interval_ns` from pulse to pulse; `increment` is the wire clock's nominal duration, 2^-32 ns."""

    interval_ns: int
    increment: int = 8 * FRACTION
    _drift: float = field(default=0.0, init=False)  # ns to be added in each interval
    _before: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._clocks = self.interval_ns * FRACTION / self.increment

    def pulse(self, offset_ns: float) -> Correction:
        """`offset_ns`: own time less the other's at a pulse, after the corrections that were given before took
        effect."""
        if self._before is None:
            # Of one offset nobody knows what is phase and what is frequency: nothing is slewed until the second.
            self._before = offset_ns
            return self._correction(0.0)
        if self._before != float("inf"):
            self._drift = self._before - offset_ns
            self._before = float("inf")
            return self._correction(-offset_ns)
        self._drift -= INTEGRAL * offset_ns
        return self._correction(-PROPORTIONAL * offset_ns)

    def _correction(self, phase_ns: float) -> Correction:
        clocks = max(1, int(self._clocks * SLEW_SHARE))
        per_clock = round(phase_ns * FRACTION / clocks)
        return Correction(
            self.increment + round(self._drift * FRACTION / self._clocks),
            max(-LARGEST_SLEW, min(LARGEST_SLEW, per_clock)),
            clocks,
        )
