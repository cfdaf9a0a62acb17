# SPDX-License-Identifier: BSD-2-Clause-Patent
"""AIMD(a, b) without a division, as rtl/downbeat/congestion/steady/Aimd.scala.

Growth while cwnd >= ssthresh and decrease are those of additive_increase.py; a loss takes the credit. Argument: a, 24
bits, 16 of them fraction; b, 16 bits of fraction; all zeros: (1, 0.5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.additive_increase import CREDIT_BITS, SHARE_BITS, decreased, increased
from sim.golden.congestion.seam import Answer, CongestionEvent, Kind, Window

INCREASE_BITS, DECREASE_BITS = 24, SHARE_BITS
ARGUMENT_BITS = INCREASE_BITS + DECREASE_BITS


def argument(increase: float, decrease: float) -> int:
    """What a connection is opened with: a and b, rounded down to 2^-16."""
    a, b = int(increase * 2**16), int(decrease * 2**16)
    if not 0 < a < 1 << INCREASE_BITS or not 0 <= b < 1 << DECREASE_BITS:
        raise ValueError(f"AIMD({increase}, {decrease}): a from 2^-16 to below 256, b from 0 to below 1")
    return b << INCREASE_BITS | a


@dataclass(frozen=True)
class Aimd:
    name: str = "aimd"
    state_bits: int = ARGUMENT_BITS + CREDIT_BITS

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        given, credit = policy_state & (1 << ARGUMENT_BITS) - 1, policy_state >> ARGUMENT_BITS
        increase, decrease = given & (1 << INCREASE_BITS) - 1, given >> INCREASE_BITS
        match event.kind:
            case Kind.ESTABLISHED:
                given, credit = given or argument(1, 0.5), 0
            case Kind.ACKNOWLEDGED if not event.starting_up:
                cwnd, credit = increased(event, window, credit, increase)
                window = replace(window, cwnd=cwnd)
            case Kind.LOSS | Kind.TIMEOUT:
                window, credit = replace(window, ssthresh=decreased(event, decrease)), 0
            case _:
                pass
        return Answer(window, credit << ARGUMENT_BITS | given)


POLICY = Aimd()
