# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Estimates that are wrong, stale, absurd or hostile: bytes arrive, no window is above what bounds it, and each event's
windows are the golden models'.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from downbeat_toe.device import nanoseconds
from downbeat_toe.structures import StartValues

from sim.device.pair import Pair
from sim.device.test_host_start import MSS, Watched, values
from sim.golden.congestion.startup import miss, resume

IW = 10  # segments
UNBOUNDED = 1 << 30  # bytes, the largest window
MAX = (1 << 16) - 1
BYTES = 60_000
# ns. Instants are compared modulo 2^48: more than half of that ahead is past.
ANCIENT, FAR, FARTHEST = 1, (1 << 47) - 1, (1 << 48) - 1


def chosen(policy: bytes, argument: int) -> dict[str, Any]:
    return {"startup": policy, "startup_argument": (argument & (1 << 64) - 1, argument >> 64)}


# Parameters, the first window in segments, ssthresh in bytes (None: as given or the default).
TABLE: dict[str, tuple[dict[str, Any], int, int | None]] = {
    "nothing": ({"start": StartValues()}, IW, None),
    "a pace without a window": ({"start": StartValues(0, 1, 1 << 20, 0)}, IW, None),
    "the largest window, all at once": ({"start": StartValues(MAX, 0, 0, 0), "ssthresh": UNBOUNDED}, MAX, UNBOUNDED),
    "the largest window, paced by nothing": ({"start": StartValues(MAX, 2, 0, 0)}, MAX, None),
    "the largest gap": ({"start": StartValues(2, 1, (1 << 52) - 1, 0)}, 2, None),
    "one segment": ({"start": values(1), "ssthresh": 1}, 1, 2),
    "no ssthresh to speak of": ({"ssthresh": 1}, IW, 2),
    "of the past": ({"start": values(MAX, until=ANCIENT), "ssthresh": 1}, IW, 2),
    "far ahead": ({"start": values(40, until=FAR)}, 40, None),
    "too far ahead": ({"start": values(40, until=FARTHEST), "ssthresh": 1}, IW, 2),
    "miss: a drop that is overdue": (chosen(b"miss", miss.argument(1.0, ANCIENT)), IW, None),
    "miss: a drop that is too far ahead": (chosen(b"miss", miss.argument((1 << 24) / 256 - 1, FARTHEST)), IW, None),
    "resume: a round trip that is none": (chosen(b"resume", MAX | MAX << 16 | 1 << 32), IW, None),
    "resume: a round trip of a minute": (chosen(b"resume", MAX | MAX << 16 | ((1 << 36) - 1) << 32), IW, None),
    "resume: one segment": (chosen(b"resume", 1 | 1 << 16 | 20_000 << 32), IW, None),
}


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.replace(" ", "-"))
def test_bytes_arrive_whatever_start_was_given(pair: Pair, case: str) -> None:
    parameters, window, ssthresh = TABLE[case]
    watched = Watched(pair)
    watched.open(**parameters)
    established = watched.of_kind("established")[0]
    segment = established.segment_size
    assert established.cwnd >> 16 == window * segment
    if ssthresh is not None:
        assert established.ssthresh >> 16 == (2 * segment if ssthresh == 2 else ssthresh)
    slow = case == "the largest gap"  # one of 69 s
    watched.send(2 * MSS if slow else BYTES, limit_ns=200e9 if slow else 5e9)
    for event in watched.events:
        if event.live:
            assert event.cwnd >> 16 <= UNBOUNDED and event.ssthresh >> 16 <= UNBOUNDED
            assert event.flight <= max(event.send_window, 1)
    argument = parameters.get("startup_argument", (0, 0))
    watched.agrees(argument[0] | argument[1] << 64)


@dataclasses.dataclass
class Policer:
    """A path that polices: at most `rate` b/s and `burst` bytes at once, the rest is lost."""

    rate: float
    burst: int
    free: int = 0

    def __call__(self, departure: int, frame: bytes) -> bool:
        if len(frame) < 100:
            return False
        if self.free - departure > self._time(self.burst):
            return True
        self.free = max(self.free, departure) + self._time(len(frame))
        return False

    def _time(self, count: int) -> int:
        return nanoseconds(count * 8e9 / self.rate)


def test_another_paths_window_is_given_up(pair: Pair) -> None:
    """The round trip is right, the window that of a path ten times as fast: a safe retreat, once, and all arrives."""
    pair.delay = nanoseconds(1_000_000)
    pair.drops = Policer(100e6, 20 * MSS)
    watched = Watched(pair)
    saved = 200  # segments in 2 ms: 1.2 Gb/s
    argument = resume.argument(saved, 2_000_000)
    watched.open(**chosen(b"resume", argument))
    watched.send(400_000)
    assert watched.reports[-1].retreats == 1 and watched.reports[-1].losses >= 1
    retreat = next(event for event in watched.events if event.retreats)
    before = max(event.cwnd for event in watched.events if event.time <= retreat.time)
    assert before >> 16 >= saved // 2 * retreat.segment_size, "it has jumped"
    assert retreat.ssthresh <= before // 2
    watched.agrees(argument)
