# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Frames stamped as they arrive over a virtual cable, and what is refused for want of a common time."""

from __future__ import annotations

import json
from pathlib import Path

from downbeat_toe.gap import veth
from downbeat_toe.gap.verdict import rounded

from sw.tests.gap import synthetic
from sw.tests.gap.calling import downbeat, inside

MILLISECOND = 1_000_000  # ns
TO = ("--to", veth.ADDRESS, "--rate", "10Gb/s")


def test_the_selftest_knows_every_frame_and_its_floor(tmp_path: Path) -> None:
    inside("")  # or skip
    done = downbeat("gap", "selftest", "--frames", 500, "--gap", "1ms", "--reports", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads((tmp_path / "gap-selftest.json").read_text())
    stamps = data["arrivals against departures"]
    assert data["frames"]["fine"] == stamps["frames"]["fine"] == 500
    assert "software" in data["capture"]["stamps"] and "no hardware stamps" in data["capture"]["stamps"]
    # On a machine however busy: arrival follows departure in the same call of the kernel, and nothing leaves early.
    assert 0 < stamps["delay_ns"]["minimum"] <= stamps["delay_ns"]["p50"] < 100_000
    assert abs(stamps["gap_error_ns"]["p50"]) < 10_000
    assert data["departures against schedule"]["delay_ns"]["minimum"] > 0
    assert data["clock_step_ns"] >= 1
    floor = data["floor"]
    assert floor["gaps"] == 499 and floor["half_width_ns"] == data["verdict"]["floor_ns"] > 0
    assert len(floor["quantiles_ns"]) == 1001 and f"±{rounded(floor['half_width_ns'])} ns" in done.stdout


def test_frames_of_another_host_are_heard_and_their_delay_refused(tmp_path: Path) -> None:
    """The sender here is another process, of which the listener knows the schedule alone; a third one sends what is
    neither's."""
    plan = synthetic.schedule(tmp_path / "plan.csv", [0, MILLISECOND, 3 * MILLISECOND, 3_100_000, 9 * MILLISECOND])
    script = """
plan, reports, *to = sys.argv[1:]
hearing = [*downbeat, 'gap', 'live', veth.ENDS[1], '--schedule', plan, '--reports', reports]
refused = subprocess.run([*hearing, '--one-way'], capture_output=True, text=True)
print(refused.returncode, refused.stderr, flush=True)
talk = "import socket, time\\ns = socket.socket(17, 3)\\ns.bind(('downbeat0', 0))\\nwhile 1: s.send(bytes(60)), time.sleep(0.002)"
noise = subprocess.Popen([sys.executable, '-c', talk])
listener = subprocess.Popen(hearing, stdout=subprocess.PIPE, text=True)
print(listener.stdout.readline(), flush=True)
subprocess.run([*downbeat, 'replay', plan, '--interface', veth.ENDS[0], *to], check=True)
listener.communicate(timeout=60)
noise.kill()
sys.exit(listener.returncode)
"""
    said = inside(script, plan, tmp_path, *TO)
    assert said.startswith("2 no one-way delay: arrivals are software") and "--common-time" in said
    assert "Listening on downbeat1; its stamps are software" in said
    assert "5 frames by busy waiting, CLOCK_TAI; 0 not taken" in said and "Late by (ns)" in said
    data = json.loads((tmp_path / "gap-live.json").read_text())
    assert data["frames"]["fine"] == 5 and data["delay_ns"] is None
    assert data["gaps"]["scheduled_ns"] == {"minimum": 100_000, "median": 1_500_000, "maximum": 5_900_000}


def test_a_selftest_at_the_usual_place_is_found_from_another_place_of_reports(tmp_path: Path) -> None:
    usual = tmp_path / "build" / "reports" / "gap-selftest.json"
    usual.parent.mkdir(parents=True)
    usual.write_text("{}")
    plan = synthetic.schedule(tmp_path / "plan.csv", [0, MILLISECOND])
    done = downbeat("gap", "live", "lo", "--schedule", plan, "--reports", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2 and "build/reports/gap-selftest.json: not a report of downbeat gap" in done.stderr


def test_launches_that_count_from_the_start_have_no_time_in_common(tmp_path: Path) -> None:
    plan = synthetic.schedule(tmp_path / "plan.csv", [0, MILLISECOND])
    done = downbeat("gap", "live", "lo", "--schedule", plan, "--common-time")
    assert done.returncode == 2 and "launches count from the start" in done.stderr


def test_delay_from_another_host_is_known_by_clock_tai(tmp_path: Path) -> None:
    """Absolute launches, sent by another process; what arrives late by a delay is the sender's lateness and the
    cable."""
    plan = tmp_path / "plan.csv"
    script = """
plan, reports, *to = sys.argv[1:]
start = time.clock_gettime_ns(time.CLOCK_TAI) + 8_000_000_000
with open(plan, 'w') as file:
    print('launch_ns,length', *(f'{start + 100_000_000 * number},100' for number in range(20)), sep='\\n', file=file)
hearing = [*downbeat, 'gap', 'live', veth.ENDS[1], '--schedule', plan, '--reports', reports, '--one-way', '--common-time']
listener = subprocess.Popen([*hearing, '--time-limit', '20'], stdout=subprocess.PIPE, text=True)
listener.stdout.readline()
subprocess.run([*downbeat, 'replay', plan, '--interface', veth.ENDS[0], '--absolute', *to], check=True)
listener.communicate(timeout=60)
sys.exit(listener.returncode)
"""
    inside(script, plan, tmp_path, *TO)
    data = json.loads((tmp_path / "gap-live.json").read_text())
    assert data["frames"]["fine"] == 20 and data["drift"]["why_not"] == "one clock"
    assert 0 < data["delay_ns"]["minimum"] < 100 * MILLISECOND  # a busy machine sends the others later
