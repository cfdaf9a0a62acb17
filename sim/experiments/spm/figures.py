# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the thesis says of each path, and the judgement of what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from sim.experiments.linearity.figures import FIGURES, SHARE, STEP_MS
from sim.experiments.spm.transfer import PACKET_MS, ROUND_TRIP_MS, Measured

MET_MS = 1  # a mean has met y = x: of few samples, fewer than `make experiment NAME=linearity` has
INPUT_GAPS_MS = (8, 12, 16, 32)  # y0 {1, 1.5, 2, 4}


@dataclass(frozen=True)
class Path:
    cross: int  # sources, each a quarter of the bottleneck
    published_ms: int | None  # the input gap at which the thesis' curve meets y = x

    @property
    def gap_ms(self) -> float | None:
        """Of a packet at the rate that is left: P / (1 - l). None: none is left."""
        left = 1 - SHARE * self.cross
        return PACKET_MS / left if left > 0 else None

    @property
    def segments(self) -> int | None:
        """The window that fills what is left."""
        return None if self.gap_ms is None else int(ROUND_TRIP_MS / self.gap_ms)


PATHS = tuple(Path(figure.cross, figure.meets_ms) for figure in FIGURES)


def output_gaps(runs: Sequence[Measured]) -> list[float]:
    """The mean gap at arrival for each input gap, over the samples of all runs, ms."""
    samples = [sample for run in runs for sample in run.samples]
    return [mean(y for x, y in samples if abs(x - gap) <= gap / 16) for gap in INPUT_GAPS_MS]


def meeting(means: Sequence[float]) -> int | None:
    """The first input gap from which on the mean is the gap itself."""
    met = None
    for gap, received in zip(INPUT_GAPS_MS, means, strict=True):
        if received - gap >= MET_MS:
            met = None
        elif met is None:
            met = gap
    return met


def row(where: Path, spm: Sequence[Measured], hoe: Sequence[Measured]) -> dict[str, Any]:
    """The figures of one path, of SPM and of Hoe beside it."""
    means = output_gaps(spm)
    # Beyond the largest input gap nothing was measured: a line that is all but parallel meets y = x somewhere.
    gaps = sorted(run.gap_ms for run in spm if run.gap_ms is not None and run.gap_ms <= INPUT_GAPS_MS[-1] + MET_MS)
    return {
        "cross_sources": where.cross,
        "published_ms": where.published_ms,
        "model_gap_ms": where.gap_ms,
        "model_segments": where.segments,
        "input_gaps_ms": INPUT_GAPS_MS,
        "mean_output_gaps_ms": means,
        "meets_ms": meeting(means),
        "runs": len(spm),
        "estimates": len(gaps),
        "median_gap_ms": median(gaps) if gaps else None,
        "least_gap_ms": gaps[0] if gaps else None,
        "most_gap_ms": gaps[-1] if gaps else None,
        "median_segments": _median([run.segments for run in spm]),
        "hoe_median_segments": _median([run.segments for run in hoe]),
        "first_gaps_ms": sorted({round(run.first_gap_ms, 3) for run in spm if run.first_gap_ms is not None}),
    }


def failures(where: Path, figures: dict[str, Any], runs: Sequence[Measured]) -> list[str]:
    said = [f"{run.policy}, {run.cross} sources, seed {run.seed}: {run.mismatch}" for run in runs if run.mismatch]
    name, met = f"{where.cross} sources", figures["meets_ms"]
    most = figures["estimates"] > figures["runs"] / 2
    hoe = figures["hoe_median_segments"]
    if where.published_ms is None or where.segments is None:
        if met is not None:
            said.append(f"{name}: the samples meet y = x at {met} ms, and there is no rate left")
        if most:
            said.append(f"{name}: {figures['estimates']} of {figures['runs']} runs find a rate, and there is none left")
        return said
    if met is None or abs(met - where.published_ms) > STEP_MS:
        said.append(f"{name}: the samples meet y = x at {met} ms, published {where.published_ms} ms")
    if not most:
        said.append(f"{name}: only {figures['estimates']} of {figures['runs']} runs come to an estimate")
    if hoe is None or hoe <= where.segments:
        said.append(f"{name}: Hoe's {hoe} segments are no over-estimate of {where.segments}")
    return said


def _median(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
