# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rounds counted in bytes, as rtl/downbeat/congestion/ByteRound.scala."""

from __future__ import annotations

from sim.golden.congestion.seam import CongestionEvent, wrap


def counted(event: CongestionEvent, left: int) -> tuple[bool, int]:
    """Whether an ACK ends the round, and the bytes to be acknowledged after it; `left` 0: no round has begun."""
    reached = event.acked_bytes >= left
    after = wrap((event.flight if reached else left) - event.acked_bytes, 32)
    return reached and left > 0, after or 1
