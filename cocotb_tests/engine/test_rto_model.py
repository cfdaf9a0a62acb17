# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The model of the retransmission timeout: RFC 6298's equations, to within the nanoseconds that its shifts drop."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from sim.golden.engine.rto import SECOND, RtoEstimator

MICROSECOND = 1000  # ns
MILLISECOND = 10**6  # ns

# srtt8 gains less than 1 ns in an update and loses an eighth of its error: below 8 ns, SRTT below 1.
SRTT_TOLERANCE = 1
# var4 gains less than 1 ns by its own shift and less than 1 by SRTT's, and loses a quarter: at most 8 ns, RTTVAR 2 and
# 1 more by the shift that shows it.
RTTVAR_TOLERANCE = 3
RTO_TOLERANCE = SRTT_TOLERANCE + 8


@dataclass
class Rfc6298:
    """The equations as they stand there, in floats."""

    srtt: float = 0.0
    rttvar: float = 0.0
    sampled: bool = False

    def sample(self, rtt: float) -> None:
        if self.sampled:
            self.rttvar = 3 / 4 * self.rttvar + 1 / 4 * abs(self.srtt - rtt)
            self.srtt = 7 / 8 * self.srtt + 1 / 8 * rtt
        else:
            self.srtt, self.rttvar, self.sampled = rtt, rtt / 2, True

    def rto(self, floor: float, ceiling: float, granularity: float) -> float:
        return min(max(self.srtt + max(granularity, 4 * self.rttvar), floor), ceiling)


@pytest.mark.parametrize("longest", [2000, MILLISECOND, 300 * MILLISECOND, 30 * SECOND])
def test_it_follows_the_equations(longest: int) -> None:
    draw = random.Random(longest)
    model, equations = RtoEstimator(floor=0), Rfc6298()
    for _ in range(5000):
        rtt = draw.choice([1, longest, draw.randrange(1, longest + 1)])
        model.sample(rtt)
        equations.sample(rtt)
        assert abs(model.srtt - equations.srtt) <= SRTT_TOLERANCE
        assert abs(model.rttvar - equations.rttvar) <= RTTVAR_TOLERANCE
        assert abs(model.rto - equations.rto(0, model.ceiling, model.granularity)) <= RTO_TOLERANCE


def test_worked_example() -> None:
    """Worked in whole microseconds, whose shifts drop up to 1 us of each value; ours drop nanoseconds."""
    model = RtoEstimator(floor=200 * MILLISECOND)
    for rtt, srtt, rttvar, rto in (
        (100000, 100000, 50000, 300000),
        (120000, 102500, 42500, 272500),
        (80000, 99687, 37500, 249687),
        (300000, 124726, 78203, 437539),
        (100000, 121635, 64834, 380971),
        (50000, 112681, 66534, 378818),
    ):
        model.sample(rtt * MICROSECOND)
        assert model.srtt / MICROSECOND == pytest.approx(srtt, abs=1)
        assert model.rttvar / MICROSECOND == pytest.approx(rttvar, abs=1)
        assert model.rto / MICROSECOND == pytest.approx(rto, abs=1)


def test_before_any_sample_it_is_one_second() -> None:
    assert RtoEstimator().rto == SECOND
    assert RtoEstimator(initial=3 * SECOND).rto == 3 * SECOND


def test_floor_ceiling_and_granularity() -> None:
    model = RtoEstimator(floor=200 * MILLISECOND, ceiling=60 * SECOND)
    assert model.sample(MILLISECOND) == 200 * MILLISECOND
    assert model.sample(90 * SECOND) == 60 * SECOND
    steady = RtoEstimator(floor=0)
    for _ in range(100):
        steady.sample(8 * MILLISECOND)
    assert steady.rto == 8 * MILLISECOND + steady.granularity
