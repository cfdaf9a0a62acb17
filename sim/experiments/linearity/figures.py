# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the thesis printed (p. 74 to 92), its model, and where a curve meets y = x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

BYTE_NS = 8
STEP_MS = 4
PACKET_MS = 8  # 1,000 bytes at 1 Mb/s
SHARE = 0.25  # of the bottleneck, for each cross source
# A curve has met y = x where it is nearer than one can tell from the printed figure.
MET_MS = STEP_MS / 4


@dataclass(frozen=True)
class Figure:
    number: str
    cross: int  # constant-rate sources of 250 kb/s
    meets_ms: int | None  # the sweep's gap at which the published curve meets y = x


FIGURES = (Figure("4-6", 1, 12), Figure("4-7", 2, 16), Figure("4-8", 3, 32), Figure("4-9", 4, None))


def model(gap_ms: float, cross: int) -> float:
    """A packet's time and what the cross traffic sends meanwhile, or the gap itself."""
    return max(gap_ms, PACKET_MS + SHARE * cross * gap_ms)


def meeting(points: Sequence[dict[str, Any]]) -> int | None:
    """The first gap of the sweep from which on the received gap is the sent one."""
    met = None
    for point in points:
        if point["received_ms"] - point["gap_ms"] >= MET_MS:
            met = None
        elif met is None:
            met = point["gap_ms"]
    return met


def failures(figure: Figure, points: Sequence[dict[str, Any]]) -> list[str]:
    said = []
    met = meeting(points)
    if (met is None) != (figure.meets_ms is None) or met is not None and abs(met - (figure.meets_ms or 0)) > STEP_MS:
        said.append(f"figure {figure.number}: meets y = x at {met} ms, published {figure.meets_ms} ms")
    if figure.meets_ms is None and any(
        not 0 < point["received_ms"] - point["gap_ms"] < PACKET_MS + MET_MS for point in points
    ):
        said.append(f"figure {figure.number}: not between y = x and {PACKET_MS} ms above it")
    for point in points:
        if point["max_sent_error_ns"] >= BYTE_NS:
            said.append(f"figure {figure.number}: a sent gap {point['max_sent_error_ns']:g} ns off")
        # A frame comes to the far end's pins on its byte grid, and its stamp is right to one byte time.
        if point["max_measured_error_ns"] > 2 * BYTE_NS:
            said.append(f"figure {figure.number}: a measured gap {point['max_measured_error_ns']:g} ns off")
    return said
