# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Host starts and path reports: through the core's C interface, both against
the golden models.
"""

from __future__ import annotations

import ctypes
from itertools import pairwise
from typing import Any

import pytest
from downbeat_toe.device import Device, nanoseconds
from downbeat_toe.structures import Event, PathReport, StartValues, State

from sim.device.pair import IPS, Pair, would_block
from sim.golden.replay import replay
from sim.golden.report.path_report import PathEvent, PathReporter

MSS = 1460
TIMESTAMPED = MSS - 12  # bytes of a full segment
GAP = 50_000  # ns
EVEN, BUCKET = 1, 2
REPORTED: tuple[str, ...] = (
    "time",
    "phase",
    "closed",
    "segment_size",
    "cwnd",
    "ssthresh",
    "smoothed_rtt",
    "smallest_rtt",
    "rtt_variation",
    "average_window",
    "growth",
)
REPORTED += ("losses", "loss_time", "loss_window", "loss_in_avoidance", "restarts", "retreats", "acked", "acks")
STATES = {State.CLOSED: "closed", State.SYN_SENT: "synSent", State.SYN_RECEIVED: "synReceived"}


def values(window: int, pace: int = EVEN, gap: float = GAP, until: int = 0) -> StartValues:
    return StartValues(window, pace, round(gap * 65536), until)


class Watched:
    """A client, its events and its reports."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.events = pair.client.record_events()
        self.reports = pair.client.record_reports()

    def open(self, **parameters: Any) -> int:
        self.pair.server.listen(80)
        self.name = self.pair.client.connect(IPS[1], 80, **parameters)
        self.pair.run(lambda: self.pair.client.info(self.name).state == State.ESTABLISHED)
        return self.name

    def send(self, count: int, limit_ns: float = 5e9) -> None:
        """So many bytes; returns when they are acknowledged."""
        goal = self.pair.client.info(self.name).acknowledged + count
        left = count

        def done() -> bool:
            nonlocal left
            if left:
                left -= would_block(lambda: self.pair.client.send(self.name, bytes(min(left, 65536)))) or 0
            for name in self.accepted():
                would_block(lambda name=name: self.pair.server.receive(name))  # type: ignore[misc]
            return bool(self.pair.client.info(self.name).acknowledged >= goal)

        self.pair.run(done, limit_ns)

    def wait(self, ns: float) -> None:
        """Nothing is on the wire."""
        until = max(self.pair.client.now, self.pair.server.now) + nanoseconds(ns)
        self.pair.client.advance(until)
        self.pair.server.advance(until)

    def accepted(self) -> list[int]:
        if not hasattr(self, "_accepted"):
            name = would_block(lambda: self.pair.server.accept(80))
            if name is None:
                return []
            self._accepted = [name]
        return self._accepted

    def departures(self) -> list[float]:
        """ns, from the first full segment of the client on."""
        times = [time for time, frame in self.pair.carried if len(frame) > 1000 and frame[26:30] == IPS[0].to_bytes(4)]
        return [(time - times[0]) / 65536 for time in times]

    def of_kind(self, kind: str) -> list[Event]:
        return [event for event in self.events if self.pair.client.text("congestion", event.congestion_kind) == kind]

    def agrees(self, startup_argument: int = 0, steady_argument: int = 0) -> None:
        """Windows and reports are the golden models', event by event."""
        rows = [self._row(event, startup_argument, steady_argument) for event in self.events if event.live]
        begin = next(i for i, row in enumerate(rows) if row["kind"] == "established")
        live = [event for event in self.events if event.live]
        for event, window in zip(live[begin:], replay(rows[begin:], startup_argument, steady_argument), strict=True):
            assert (event.cwnd, event.ssthresh) == (window.cwnd, window.ssthresh)
        reporter = PathReporter()
        expected = [report for event in live if (report := reporter.see(self._path(event)))]
        assert [_reported(report) for report in self.reports] == [
            tuple(getattr(each, name) for name in REPORTED) for each in expected
        ]

    def _path(self, event: Event) -> PathEvent:
        row = self._row(event, 0, 0)
        return PathEvent(
            event.time,
            str(row["kind"]),
            established=row["kind"] == "established" and row["event"] == "segment",
            state=STATES.get(State(event.state), "open"),
            acked=event.acked,
            rtt=event.rtt if event.rtt_valid else None,
            rtt_first=bool(event.rtt_first),
            segment_size=event.segment_size,
            recovering=bool(event.recovering),
            retreats=bool(event.retreats),
            cwnd=event.cwnd,
            ssthresh=event.ssthresh,
        )

    def _row(self, event: Event, startup_argument: int, steady_argument: int) -> dict[str, str | int]:
        text = self.pair.client.text
        copied: tuple[str, ...] = (
            "time",
            "requested",
            "estimates",
            "arrival",
            "repeated",
            "bwe",
            "ere",
            "uninflated",
            "acked",
            "flight",
        )
        copied += ("initial_window", "initial_ssthresh", "sent_probe", "sent_ahead", "departure_gap", "arrival_gap")
        copied += ("probe_round_trip", "host_window", "host_expired", "growth_limited", "rtt_full", "rtt_first")
        probe = "begins" if event.probe_begins else "disturbed" if event.probe_disturbed else "whole"
        return {name: getattr(event, name) for name in copied} | {
            "event": text("event", event.kind),
            "kind": text("congestion", event.congestion_kind),
            "startup": text("startup", event.startup),
            "steady": text("steady", event.steady),
            "mss": event.segment_size,
            "rtt": event.rtt if event.rtt_valid else "",
            "probe": probe if event.probe_answered else "",
            "startup_argument": startup_argument,
            "steady_argument": steady_argument,
        }


def _reported(report: PathReport) -> tuple[int, ...]:
    return tuple(getattr(report, name) for name in REPORTED)


def gaps(times: list[float]) -> list[int]:
    return [round(after - before) for before, after in pairwise(times)]


@pytest.mark.parametrize("window", [4, 20, 300])
def test_a_start_with_the_open_is_the_first_window_and_its_pace(pair: Pair, window: int) -> None:
    watched = Watched(pair)
    watched.open(start=values(window), ssthresh=window * MSS, no_delay=1)
    established = watched.of_kind("established")[0]
    assert established.cwnd >> 16 == window * established.segment_size
    assert established.host_window == window and established.ssthresh >> 16 == window * MSS
    watched.send((window + 5) * MSS)
    found = gaps(watched.departures())[: window - 1]
    assert all(abs(gap - GAP) <= 8 for gap in found), found
    watched.agrees()


def test_a_bucket_lets_four_segments_go_at_once(pair: Pair) -> None:
    watched = Watched(pair)
    watched.open(start=values(12, BUCKET), ssthresh=12 * MSS)
    watched.wait(4e6)  # the bucket fills
    watched.send(12 * MSS)
    times = watched.departures()
    assert times[3] < 3 * 13_000  # back to back at 1 Gb/s
    assert all(abs(gap - GAP) <= 8 for gap in gaps(times[4:11])), times
    watched.agrees()


def test_a_start_that_is_too_old_is_slow_start_to_its_ssthresh(pair: Pair) -> None:
    watched = Watched(pair)
    watched.open(start=values(40, until=1), ssthresh=7 * MSS, startup=b"hystart", initial_window=3)
    established = watched.of_kind("established")[0]
    assert established.host_expired and not established.host_window
    assert pair.client.text("startup", established.startup) == "standard"
    assert established.cwnd >> 16 == 3 * established.segment_size and established.ssthresh >> 16 == 7 * MSS
    watched.send(30 * MSS)
    watched.agrees()


def test_a_living_connection_restarts_with_nothing_in_flight(pair: Pair) -> None:
    watched = Watched(pair)
    name = watched.open()
    watched.send(50_000)
    before = len(pair.carried)
    pair.client.start(name, start=values(30), ssthresh=30 * MSS)
    watched.send(30 * TIMESTAMPED)  # written at once: it does not overtake
    assert pair.client.info(name).starts_refused == 0
    pair.carried[:before] = []
    found = gaps(watched.departures())[:29]
    assert all(abs(gap - GAP) <= 8 for gap in found), found
    started = watched.of_kind("established")[1]
    assert (
        started.cwnd >> 16 == 30 * started.segment_size == started.ssthresh >> 16 or started.ssthresh >> 16 == 30 * MSS
    )
    watched.agrees()


def test_after_idleness_a_start_holds_and_nothing_restarts(pair: Pair) -> None:
    watched = Watched(pair)
    name = watched.open()
    watched.send(50_000)
    watched.wait(3e9)
    pair.client.start(name, start=values(25), ssthresh=25 * MSS)
    watched.send(25 * TIMESTAMPED)
    assert not watched.of_kind("restart")
    watched.agrees()


def test_a_start_with_data_in_flight_changes_nothing_and_is_counted(pair: Pair) -> None:
    watched = Watched(pair)
    name = watched.open()
    watched.send(20_000)
    pair.client.send(name, bytes(20_000))
    pair.client.advance(pair.client.now + nanoseconds(100_000))
    assert pair.client.info(name).unacknowledged
    windows = watched.events[-1].cwnd
    pair.client.start(name, start=values(77), ssthresh=5 * MSS, startup=b"lbc")
    pair.client.advance(pair.client.now + nanoseconds(5_000))
    assert pair.client.info(name).starts_refused == 1
    assert watched.events[-1].cwnd == windows and not watched.of_kind("established")[1:]
    watched.send(10_000)
    watched.agrees()


def test_losses_recoveries_and_the_end_are_reported(pair: Pair) -> None:
    watched = Watched(pair)
    name = watched.open(ssthresh=40 * MSS)
    watched.send(300_000)
    for _ in range(2):
        pair.client.send(name, bytes(60_000))
        pair.client.advance(pair.client.now + nanoseconds(30_000))
        lost = pair.client.frames()
        assert len(lost) > 1
        for frame, departure in lost[1:]:  # the first is lost
            pair.server.put_frame(frame, max(departure, pair.server.now) + nanoseconds(5_000))
        watched.send(60_000)
    pair.client.close(name)
    for accepted in watched.accepted():
        pair.server.close(accepted)
    pair.run(lambda: bool(watched.reports) and watched.reports[-1].closed == 1, limit_ns=200e9)
    assert watched.reports[-1].losses >= 2 and watched.reports[-1].acked >= 420_000
    watched.agrees()


def test_a_build_has_reports_of_each_connection(pair: Pair, library: ctypes.CDLL) -> None:
    reports = pair.server.record_reports()
    out, accepted = pair.connected()
    pair.run(lambda: len(reports) > 0)
    info = pair.server.info(accepted)
    assert (reports[0].flow, reports[0].generation) == (info.flow, info.generation)
    assert isinstance(pair.server, Device) and out > 0
