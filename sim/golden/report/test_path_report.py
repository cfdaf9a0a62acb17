# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The golden model of the path report: the thesis's average, RFC 6298's round trip, and when a report is due."""

from __future__ import annotations

import pytest

from sim.golden.engine.rto import RtoEstimator
from sim.golden.report.path_report import PathEvent, PathReporter, Phase, averaged

SEGMENT = 1460 << 16


@pytest.mark.parametrize(
    ("acks", "average"), [(1, 656670), (10, 668338), (100, 774160), (500, 1069573), (1000, 1221888)]
)
def test_the_averaged_window_is_the_vector_awnd(acks: int, average: int) -> None:
    """From 10, cwnd 20 all the time, 16 fraction bits."""
    found = 10 << 16
    for _ in range(acks):
        found = averaged(found, 20 << 16)
    assert found == average
    assert found / 65536 == pytest.approx(20 - 10 * 0.998**acks, rel=1e-3)


def test_each_change_is_reported_and_otherwise_a_round_trip_is_waited() -> None:
    reporter = PathReporter()

    def at(time: int, kind: str = "acknowledged", cwnd: int = 10, ssthresh: int = 20, **more: object) -> Phase | None:
        event = PathEvent(time, kind, cwnd=cwnd * SEGMENT, ssthresh=ssthresh * SEGMENT, **more)  # type: ignore[arg-type]
        report = reporter.see(event)
        return report.phase if report else None

    assert at(0, "timeout", state="synSent") is None
    assert at(0, "established", established=True, rtt=1000) is Phase.STARTUP
    assert at(500, acked=1460) is None
    assert at(1100, acked=1460) is Phase.STARTUP
    assert at(1200, cwnd=20) is Phase.AVOIDANCE
    assert at(1300, "loss", cwnd=13, ssthresh=10, recovering=True) is Phase.RECOVERY
    assert at(1400, "duplicate", cwnd=14, ssthresh=10, recovering=True) is None
    assert at(1500, "recovered", cwnd=10, ssthresh=10, acked=9000) is Phase.AVOIDANCE
    assert at(1600, "restart", cwnd=10, ssthresh=10) is Phase.AVOIDANCE
    assert at(1700, "none", cwnd=10, ssthresh=10, state="closed") is Phase.AVOIDANCE
    assert at(9000, "none", cwnd=10, ssthresh=10, state="closed") is None


def test_a_loss_keeps_the_window_before_it() -> None:
    reporter = PathReporter()
    reporter.see(PathEvent(0, "established", established=True, cwnd=20 * SEGMENT, ssthresh=20 * SEGMENT))
    report = reporter.see(PathEvent(7, "loss", recovering=True, cwnd=13 * SEGMENT, ssthresh=10 * SEGMENT))
    assert report is not None
    assert (report.losses, report.loss_time, report.loss_window, report.loss_in_avoidance) == (1, 7, 20 * 1460, True)
    assert report.cwnd == 10 * 1460


def test_the_round_trip_is_the_engines() -> None:
    reporter, engine = PathReporter(), RtoEstimator()
    for number, sample in enumerate((100_000, 120_000, 80_000, 300_000, 100_000, 50_000)):
        event = PathEvent(number * 10**9, "acknowledged", established=number == 0, rtt=sample, acked=1, cwnd=SEGMENT)
        report = reporter.see(event)
        engine.sample(sample)
        assert report is not None
        assert (report.smoothed_rtt, report.rtt_variation) == (engine.srtt, engine.rttvar)


def test_later_samples_of_a_round_trip_count_for_the_smallest_alone() -> None:
    reporter = PathReporter()
    reporter.see(PathEvent(0, "established", established=True, rtt=100_000, acked=1, cwnd=SEGMENT))
    report = reporter.see(PathEvent(10**9, "acknowledged", rtt=20_000, rtt_first=False, acked=1, cwnd=SEGMENT))
    assert report is not None
    assert (report.smoothed_rtt, report.rtt_variation, report.smallest_rtt) == (100_000, 50_000, 20_000)
