# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A capture whose clock was set, or whose frames were stamped in batches, gets no precision, and the reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from downbeat_toe.gap.analysis import analyse
from downbeat_toe.gap.frames import Frames
from downbeat_toe.gap.verdict import Stamping, judge
from downbeat_toe.schedule import Schedule

from sw.tests.gap.calling import downbeat
from sw.tests.gap.synthetic import Port, pcap, ports, segment

COUNT, GAP, PAYLOAD = 600, 1_000_000, 1460  # frames, ns, bytes
STEP = 240  # the frame at which the clock is set


def frames(stamps: list[int]) -> list[tuple[int, bytes]]:
    return [(stamp, segment(1 + at * PAYLOAD, PAYLOAD)) for at, stamp in enumerate(stamps)]


def sent() -> list[int]:
    return [at * GAP for at in range(COUNT)]


def received() -> list[int]:
    """50 us later, each within 100 ns."""
    draw = np.random.default_rng(1)
    return [stamp + 50_000 + int(draw.integers(-100, 101)) for stamp in sent()]


def in_bursts() -> tuple[list[int], list[int]]:
    """A sender without a pace: launches 608 ns apart in bursts of one to 40, and what a gigabit link makes of them."""
    draw = np.random.default_rng(2)
    launches = [int(at * 608) + burst * 20 * GAP for burst in range(40) for at in range(int(draw.integers(1, 41)))][
        :COUNT
    ]
    stamps: list[int] = []
    for launch in launches:
        stamps.append(max(launch, stamps[-1] + 12_304) if stamps else launch)
    return launches, [stamp + int(draw.integers(-50, 51)) for stamp in stamps]


@pytest.mark.parametrize("size", [0, -30_000, 10**9])
def test_bursts_that_wait_for_the_wire_are_no_step_of_a_clock(tmp_path: Path, size: int) -> None:
    """A clock that is set beside them is found, within the noise of stamps."""
    launches, stamps = in_bursts()
    middle = max(at for at in range(len(launches) // 2) if launches[at] - launches[at - 1] > GAP)
    found = report(tmp_path, [stamp + size * (at >= middle) for at, stamp in enumerate(stamps)], launches)
    moves = re.findall(r"At entry (\d+) the time error moves by ([-0-9,]+) ns", found["printed"])
    assert [int(entry) for entry, _ in moves] == ([middle + 1] if size else [])
    assert all(abs(int(moved.replace(",", "")) - size) < 200 for _, moved in moves)
    drift = found["drift"]
    assert abs(drift["ppb"]) < 5 * drift["uncertainty_ppb"] < 500, "the true one is 0"


def report(tmp_path: Path, stamps: list[int], launches: list[int] | None = None) -> dict[str, Any]:
    """The report, and in `printed` what the user sees."""
    there, here = tmp_path / "there.pcap", tmp_path / "here.pcap"
    there.write_bytes(pcap(frames(stamps)))
    here.write_bytes(pcap(frames(launches or sent())))
    done = downbeat("gap", "capture", there, "--schedule", here, "--reports", tmp_path)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((tmp_path / "gap-capture.json").read_text())
    return found | {"printed": " ".join(done.stdout.split())}


@pytest.mark.parametrize("size", [-30_000, 10**9])
def test_a_step_is_found_before_the_drift_and_no_precision_stands_beside_it(tmp_path: Path, size: int) -> None:
    found = report(tmp_path, [stamp + size * (at >= STEP) for at, stamp in enumerate(received())])
    drift, verdict = found["drift"], found["verdict"]
    assert abs(drift["ppb"]) < 5 * drift["uncertainty_ppb"] < 500, "the true one is 0"
    assert verdict["half_width_ns"] is None and verdict["floor_ns"] is None
    assert "no precision, because a clock was set" in found["printed"]
    (moved,) = re.findall(rf"At entry {STEP + 1} the time error moves by ([-0-9,]+) ns and stays", found["printed"])
    assert int(moved.replace(",", "")) == pytest.approx(size, abs=200)
    assert found["printed"].count("ppb, after it") == 1
    assert "no more than the instrument" not in found["printed"] and "are the path's" not in found["printed"]
    assert found["gaps"]["disturbed"]["clock step"] == 1 and abs(found["gap_error_ns"]["mean"]) < 1


def test_frames_that_share_a_stamp_are_the_stampings(tmp_path: Path) -> None:
    stamps = received()
    found = report(tmp_path, [stamps[at // 8 * 8] for at in range(COUNT)])
    verdict = found["verdict"]
    assert verdict["half_width_ns"] is None and verdict["within_floor"] is None
    assert "no precision, because frames share stamps" in found["printed"]
    assert "stamped in batches, so gap errors are the stamping's" in found["printed"]
    assert "they are the path's" not in found["printed"]


def test_a_steady_clock_has_its_precision(tmp_path: Path) -> None:
    found = report(tmp_path, received())
    assert found["verdict"]["half_width_ns"] > 0 and found["verdict"]["unsure"] == ""
    assert "clock step" not in found["gaps"]["disturbed"]


@pytest.mark.parametrize("one_clock", [False, True])
def test_a_sender_that_falls_behind_is_no_step_where_one_clock_gives_launches_and_stamps(one_clock: bool) -> None:
    numbers = np.arange(COUNT)
    lengths, flows = np.full(COUNT, PAYLOAD), ("0",) * COUNT
    late = np.array(received()) + 30_000 * (numbers >= STEP)
    planned = Schedule("sent", "probe", np.array(sent()), lengths, flows, numbers, np.zeros(COUNT, bool))
    found = analyse(planned, Frames(late, flows, numbers, lengths), "veth", "software", True, one_clock=one_clock)
    judged = judge(found, Stamping(True, np.linspace(-200, 200, 1001), "of a test"))
    assert ("a clock was set" in " ".join(judged["sentences"] + found.data["notes"])) is not one_clock
    assert (judged["floor_ns"] is None) is not one_clock
    assert found.data["gap_error_ns"]["maximum"] > 29_000 or not one_clock, "the gap in which it fell behind"


def test_a_schedule_of_several_interfaces_names_the_option_of_the_schedule(tmp_path: Path) -> None:
    here, there = tmp_path / "here.pcapng", tmp_path / "there.pcap"
    here.write_bytes(ports([Port("eth0", frames(sent())), Port("eth1", frames(sent()))]))
    there.write_bytes(pcap(frames(received())))
    command = ["gap", "capture", there, "--schedule", here, "--reports", tmp_path]
    done = downbeat(*command)
    assert done.returncode == 2 and "(--schedule-interface)" in done.stderr
    assert downbeat(*command, "--schedule-interface", "eth1").returncode == 0
