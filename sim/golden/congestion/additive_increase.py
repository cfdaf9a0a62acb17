# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The parts of the family AIMD(a, b), as rtl/downbeat/congestion/steady/AdditiveIncrease.scala and
MultiplicativeDecrease.scala.

On an ACK of N new bytes: credit += a N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS, once. a and credit: 16
fraction bits. On a loss: ssthresh = max(floor(flight (1 - b)), 2 SMSS), b with 16 bits of fraction.
"""

from __future__ import annotations

from sim.golden.congestion.seam import FRACTION_BITS, CongestionEvent, Window, of_bytes, wrap

SHARE_BITS, CREDIT_BITS = 16, 48


def increased(event: CongestionEvent, window: Window, credit: int, increase: int) -> tuple[int, int]:
    """Window and credit after new data was acknowledged."""
    credit += increase * event.acked_bytes
    whole = of_bytes(window.cwnd >> FRACTION_BITS)
    if credit < whole:
        return window.cwnd, credit
    return wrap(window.cwnd + of_bytes(event.segment_size)), min(credit - whole, (1 << CREDIT_BITS) - 1)


def remainder(amount: int, share: int) -> int:
    """An amount without a share of it."""
    return amount * ((1 << SHARE_BITS) - share) >> SHARE_BITS


def decreased(event: CongestionEvent, decrease: int) -> int:
    """The threshold that a loss leaves."""
    return of_bytes(max(remainder(event.flight, decrease), 2 * event.segment_size))
