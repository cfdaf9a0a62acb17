# SPDX-License-Identifier: BSD-2-Clause-Patent
"""AIMD(a, b) without a division, as rtl/downbeat/congestion/steady/Aimd.scala.

On an ACK of N new bytes while cwnd >= ssthresh: credit += a N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS, once.
On a loss: ssthresh = max(floor(flight (1 - b)), 2 SMSS), credit = 0. Argument: a, 24 bits, 16 of them fraction; b, 16 bits of
fraction; all zeros: (1, 0.5). The credit has 16 fraction bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cocotb_tests.golden.congestion.seam import FRACTION_BITS, Answer, CongestionEvent, Kind, Window, of_bytes, wrap

INCREASE_BITS, DECREASE_BITS, CREDIT_BITS = 24, 16, 48
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

    def answer(self, event: CongestionEvent, window: Window, word: int) -> Answer:
        given, credit = word & (1 << ARGUMENT_BITS) - 1, word >> ARGUMENT_BITS
        increase, decrease = given & (1 << INCREASE_BITS) - 1, given >> INCREASE_BITS
        match event.kind:
            case Kind.ESTABLISHED:
                given, credit = given or argument(1, 0.5), 0
            case Kind.ACKNOWLEDGED if not event.starting_up:
                credit += increase * event.acked_bytes
                whole = of_bytes(window.cwnd >> FRACTION_BITS)
                if credit >= whole:
                    credit = min(credit - whole, (1 << CREDIT_BITS) - 1)
                    window = replace(window, cwnd=wrap(window.cwnd + of_bytes(event.segment_size)))
            case Kind.LOSS | Kind.TIMEOUT:
                kept = event.flight * ((1 << DECREASE_BITS) - decrease) >> DECREASE_BITS
                window = replace(window, ssthresh=of_bytes(max(kept, 2 * event.segment_size)))
                credit = 0
            case _:
                pass
        return Answer(window, credit << ARGUMENT_BITS | given)


POLICY = Aimd()
