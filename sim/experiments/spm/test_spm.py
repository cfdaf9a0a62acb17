# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SPM and Hoe over ns-3 where the answer is known without a model; and the judgement, against what it must refuse."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path as File

import pytest

from sim.experiments.linearity.figures import SHARE
from sim.experiments.spm import page
from sim.experiments.spm.figures import INPUT_GAPS_MS, MET_MS, PATHS, Path, failures, row
from sim.experiments.spm.transfer import CROSS_SHARE, PACKET_MS, Measured, run
from sim.lib import build

EACH, DELAYED = "acknowledges each segment", "delays ACKs, pairs inverted"


@pytest.fixture(scope="module")
def program() -> File:
    return build.ns3(tap="header") / "downbeat_sim"


@pytest.mark.parametrize("receiver", [EACH, DELAYED])
def test_an_empty_path_is_measured_exactly(program: File, tmp_path: File, receiver: str) -> None:
    """8 ms a packet and 240 ms: all pairs come out as they left, the window is what the path holds."""
    spm = run(program, tmp_path / "spm", "spm", 0, 1, inverted=receiver == DELAYED)
    assert (spm.mismatch, spm.retransmissions, spm.first_gap_ms, spm.gap_ms, spm.segments) == ("", 0, 8, 8, 30)
    assert len(spm.samples) >= 12 and all(x == pytest.approx(y, abs=1e-5) for x, y in spm.samples)
    assert [round(x) for x, _ in spm.samples[:4]] == [8, 12, 16, 32]
    hoe = run(program, tmp_path / "hoe", "hoe", 0, 1, inverted=receiver == DELAYED)
    assert (hoe.mismatch, hoe.gap_ms) == ("", 8)
    # Its round trip is the first segment's, with its time on the bottleneck and maybe the second's.
    assert hoe.segments is not None and 31 <= hoe.segments <= 33


def output_gap(gap: float, cross: int, share: float, draws: random.Random) -> float:
    """Of a pair through a first-in-first-out bottleneck, beside sources of any phase whose packets are that share of a
    probe."""
    service, period = PACKET_MS * share, PACKET_MS * share / SHARE
    begins = [draws.uniform(0, period) for _ in range(cross)]
    arrivals = [(at - back * period, service) for at in begins for back in range(-int(gap / period) - 1, 60)]
    free, leaves = -1e9, dict[float, float]()
    for at, takes in sorted([(at, takes) for at, takes in arrivals if at < gap] + [(0.0, PACKET_MS), (gap, PACKET_MS)]):
        free = max(free, at) + takes
        leaves[at] = free
    return leaves[gap] - leaves[0.0]


@pytest.mark.parametrize(
    ("cross", "share", "met"),
    [(1, CROSS_SHARE, 12), (2, CROSS_SHARE, 16), (3, CROSS_SHARE, 32), (4, CROSS_SHARE, None), (2, 1, 20)],
)
def test_sources_of_small_packets_explain_the_published_figures(cross: int, share: float, met: int | None) -> None:
    """By arithmetic alone; packets as large as the probes do not explain figure 4-7."""
    draws = random.Random(1)
    gaps = (8, 12, 16, 20, 32)
    means = [sum(output_gap(gap, cross, share, draws) for _ in range(500)) / 500 for gap in gaps]
    assert next((gap for gap, mean in zip(gaps, means, strict=True) if mean - gap < MET_MS), None) == met


def measured(cross: int, gap_ms: float | None, segments: int | None, policy: str = "spm") -> Measured:
    """A run whose samples are the model's."""
    samples = [(float(x), max(x, PACKET_MS + SHARE * cross * x)) for x in INPUT_GAPS_MS]
    return Measured(policy, cross, 1, False, 8.0, samples, gap_ms, segments, 1.0, 0, 0, 100, "")


HOE = measured(1, 8.0, 30, "hoe")


def said(where: Path, *spm: Measured, hoe: Measured = HOE) -> list[str]:
    return failures(where, row(where, spm, [hoe]), spm)


@pytest.mark.parametrize("where", PATHS, ids=lambda where: f"{where.cross} CBR")
def test_the_model_passes_and_meets_y_equals_x_where_the_thesis_does(where: Path) -> None:
    run_of = measured(where.cross, where.gap_ms, where.segments)
    assert row(where, [run_of], [HOE])["meets_ms"] == where.published_ms
    assert said(where, run_of) == []


@pytest.mark.parametrize(("figure", "other"), [(0, 2), (1, 2), (2, 1), (3, 2), (2, 3), (3, 0)])
def test_another_paths_samples_are_refused(figure: int, other: int) -> None:
    where = PATHS[figure]
    run_of = replace(measured(PATHS[other].cross, 12.0, 20), cross=where.cross)
    assert any("meet y = x" in line for line in said(where, run_of))


def test_what_is_wrong_is_said() -> None:
    two, full = PATHS[1], PATHS[3]
    assert "find a rate" in said(full, measured(4, 20.0, 12))[0]
    assert said(full, measured(4, 200.0, 2)) == []  # nothing was measured out there
    assert "come to an estimate" in said(two, measured(2, None, None))[0]
    assert "no over-estimate" in said(two, measured(2, 16.0, 15), hoe=measured(2, 20.0, 12, "hoe"))[0]
    assert "cwnd" in said(two, replace(measured(2, 16.0, 15), mismatch="cwnd differs"))[0]


def test_the_page_shows_all_paths() -> None:
    paths = []
    for where in PATHS:
        run_of = measured(where.cross, where.gap_ms, where.segments)
        paths.append({**row(where, [run_of], [HOE]), "spm": [vars(run_of)], "hoe": []})
    text = page.render({"passed": False, "failures": ["<no>"], "seed": 1, "runs": 1, "paths": paths})
    assert "&lt;no&gt;" in text and all(f"{where.cross} sources" in text for where in PATHS)
