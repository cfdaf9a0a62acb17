# SPDX-License-Identifier: BSD-2-Clause-Patent
"""sim.qlog: the phases of Careful Resume by the names of its qlog draft, and packets that are all acknowledged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sim.ns3.test_make_sim import passed

PHASE = "recovery:careful_resume_phase_updated"
RIGHT = "saved=60, maxJump=60, rtt=40ms"  # 20 Mb/s and 40 ms are 66 segments


def logged(tmp_path: Path, **settings: object) -> list[dict[str, Any]]:
    usual = {"size": "400kB", "compare": 0, "tap": "header", "startup": "resume", "startup_argument": RIGHT}
    passed(tmp_path, **(usual | settings))
    file = json.loads((tmp_path / "sim.qlog").read_text())
    assert (file["qlog_version"], file["qlog_format"]) == ("0.3", "JSON")
    events: list[dict[str, Any]] = file["traces"][0]["events"]
    times = [event["time"] for event in events]
    assert times == sorted(times)
    return events


def phases(events: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    data = [event["data"] for event in events if event["name"] == PHASE]
    return [(each["old"], each["new"], each.get("trigger", "")) for each in data]


def test_a_right_estimate_is_validated(tmp_path: Path) -> None:
    events = logged(tmp_path)
    assert phases(events) == [
        ("normal", "reconnaissance", ""),
        ("reconnaissance", "unvalidated", "congestion_window_limited"),
        ("unvalidated", "validating", "last_unvalidated_packet_sent"),
        ("validating", "normal", "last_unvalidated_packet_acknowledged"),
    ]
    begun, jumped, *_ = [event["data"] for event in events if event["name"] == PHASE]
    assert begun["restored_data"] == {"saved_congestion_window": 60 * 1460, "saved_rtt": 40}
    assert jumped["state_data"]["congestion_window"] == 30 * 1460  # half of what was saved
    # Behind the initial window, and what its ACKs had let go.
    assert 10 <= jumped["state_data"]["first_unvalidated_packet"] < 30


def test_packets_are_counted_and_each_is_acknowledged(tmp_path: Path) -> None:
    events = logged(tmp_path, loss="0.02", seed=3)
    sent = [event["data"]["header"]["packet_number"] for event in events if event["name"] == "transport:packet_sent"]
    assert sent == list(range(len(sent))) and len(sent) > 400_000 / 1460
    acknowledged: set[int] = set()
    for event in events:
        for frame in event["data"].get("frames", ()):
            for first, last in frame["acked_ranges"]:
                acknowledged |= set(range(first, last + 1))
    assert acknowledged == set(sent)


@pytest.mark.parametrize(
    ("settings", "last"),
    [
        ({"rtt": "10ms"}, [("reconnaissance", "normal", "rtt_not_validated")]),
        (
            {"buffer": "30packets", "ssthresh": "1GiB", "startup_argument": "saved=400, maxJump=400, rtt=40ms"},
            [("validating", "safe_retreat", "packet_loss"), ("safe_retreat", "normal", "exit_recovery")],
        ),
    ],
)
def test_a_wrong_estimate_ends_by_its_cause(
    settings: dict[str, object], last: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    assert phases(logged(tmp_path, **settings))[-len(last) :] == last
