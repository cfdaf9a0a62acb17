# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Figures that the thesis printed (p. 74 to 92), its model, and the point where a curve meets y = x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

BYTE_NS = 8
STEP_MS = 4
PACKET_MS = 8  # 1,000 bytes at 1 Mb/s
SHARE = 0.25  # share of the bottleneck, for each cross source
# A curve has met y = x where it is nearer than that. The model's own curves are nearer or 1 ms away at least.
MET_MS = 0.5
# A standard error of this at most; with more, what the two sides of MET_MS say is chance.
LARGEST_ERROR_MS = MET_MS / 4


@dataclass(frozen=True)
class Figure:
    number: str
    cross: int  # constant-rate sources of 250 kb/s
    meets_ms: int | None  # the sweep's gap at which the published curve meets y = x


FIGURES = (Figure("4-6", 1, 12), Figure("4-7", 2, 16), Figure("4-8", 3, 32), Figure("4-9", 4, None))


def model(gap_ms: float, cross: int) -> float:
    """A packet's time and what the cross traffic sends meanwhile, or the gap itself."""
    gap = at_bottleneck(gap_ms)
    return max(gap, PACKET_MS + SHARE * cross * gap)


def at_bottleneck(gap_ms: float) -> float:
    """The sender's own link is as slow as the bottleneck: a gap is a packet's time at least."""
    return max(gap_ms, PACKET_MS)


def meeting(points: Sequence[dict[str, Any]]) -> int | None:
    """The first gap of the sweep from which on the received gap is the sent one."""
    met = None
    for point in points:
        if point["received_ms"] - point["gap_ms"] >= MET_MS:
            met = None
        elif met is None:
            met = point["gap_ms"]
    return met


def doubt(figure: Figure, points: Sequence[dict[str, Any]]) -> str:
    """Why this figure cannot be judged: a mean that is not known well enough beside the line y = x + MET_MS; empty: it
    can."""
    for point in points:
        above = point["received_ms"] - point["gap_ms"] - MET_MS
        error = point["standard_error_ms"]
        if error > LARGEST_ERROR_MS and abs(above) < 2 * error:
            return (
                f"figure {figure.number}: too short to judge: at {point['gap_ms']} ms the mean is "
                f"{point['received_ms']:.2f} ms with a standard error of {error:.2f} ms; use a longer DURATION"
            )
    return ""


def failures(figure: Figure, points: Sequence[dict[str, Any]]) -> list[str]:
    """Faults. Figure 4-6 may meet y = x earlier than published: it begins to be drawn there."""
    return [*_curve(figure, points), *_instrument(figure, points)]


def _curve(figure: Figure, points: Sequence[dict[str, Any]]) -> list[str]:
    if doubt(figure, points):
        return []
    met = meeting(points)
    early = figure is FIGURES[0] and met is not None and met <= (figure.meets_ms or 0)
    if met != figure.meets_ms and not early:
        return [f"figure {figure.number}: meets y = x at {met} ms, published {figure.meets_ms} ms"]
    between = (0 < point["received_ms"] - at_bottleneck(point["gap_ms"]) < PACKET_MS + MET_MS for point in points)
    if figure.meets_ms is None and not all(between):
        return [f"figure {figure.number}: not between y = x and {PACKET_MS} ms above it"]
    return []


def _instrument(figure: Figure, points: Sequence[dict[str, Any]]) -> list[str]:
    said = []
    for point in points:
        if point["max_sent_error_ns"] >= BYTE_NS:
            said.append(f"figure {figure.number}: a sent gap {point['max_sent_error_ns']:g} ns off")
        # A frame comes to the far end's pins on its byte grid, and its stamp is right to one byte time.
        if point["max_measured_error_ns"] > 2 * BYTE_NS:
            said.append(f"figure {figure.number}: a measured gap {point['max_measured_error_ns']:g} ns off")
    return said
