# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How much of a window waits in queues, as rtl/downbeat/calculation/QueueShare.scala: w (RTT - base) / RTT, bytes.

RTT is the mean of `count` samples of sum `total`; both total and total - count base are shifted right until total has
32 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim.golden.congestion.packed_fields import PackedFields

MAX = (1 << 32) - 1


@dataclass(frozen=True)
class Request(PackedFields):
    """As the wires have it; times in ns, the window in bytes."""

    window: int = 0
    total: int = 0
    count: int = 1
    base: int = 0

    FIELDS = (("window", 32), ("total", 48), ("count", 12), ("base", 36))


def share(request: Request) -> int:
    """Bytes, rounded down. All ones where the round trip is zero."""
    excess = max(request.total - request.count * request.base, 0)
    shift = max(0, request.total.bit_length() - 32)
    total, excess = request.total >> shift, excess >> shift
    return min(request.window * excess // total, MAX) if total else MAX


@dataclass(frozen=True)
class QueueShare:
    name: str = "queueshare"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        return lambda requested: share(Request.unpacked(requested))


CALCULATOR = QueueShare()
