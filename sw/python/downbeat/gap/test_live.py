# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Stamps and sending over a virtual cable, and what is refused for want of a clock or of time."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from downbeat.gap import live, sending, stamping, synthetic, veth
from downbeat.gap.stamping import RAW_HARDWARE, RX_HARDWARE, TX_HARDWARE, Clock, Offer
from downbeat.gap.test_command import downbeat
from downbeat.refused import Refused

MILLISECOND = 1_000_000  # ns
TO = ("--to", veth.ADDRESS, "--rate", "10Gb/s")
root = pytest.mark.skipif(os.geteuid() != 0, reason="not root: a network namespace and raw frames need it")


def inside(script: str, *arguments: object) -> str:
    """What a script prints that runs with both ends of a cable; `downbeat` is the command as a list."""
    head = "import subprocess, sys, time\nfrom downbeat.gap import veth\nveth.enter()\n"
    head += "downbeat = [sys.executable, '-m', 'downbeat']\nout = subprocess.run(['true'])\n"
    command = [sys.executable, "-c", head + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@root
def test_the_selftest_knows_every_frame_and_its_floor(tmp_path: Path) -> None:
    done = downbeat("gap", "selftest", "--frames", 500, "--gap", MILLISECOND, "--reports", tmp_path)
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


@root
def test_frames_of_another_host_are_heard_and_their_delay_refused(tmp_path: Path) -> None:
    """The sender here is another process, of which the listener knows the schedule alone."""
    plan = synthetic.schedule(tmp_path / "plan.csv", [0, MILLISECOND, 3 * MILLISECOND, 3_100_000, 9 * MILLISECOND])
    script = """
plan, reports, *to = sys.argv[1:]
hearing = [*downbeat, 'gap', 'live', veth.ENDS[1], '--schedule', plan, '--reports', reports]
refused = subprocess.run([*hearing, '--one-way'], capture_output=True, text=True)
print(refused.returncode, refused.stderr)
listener = subprocess.Popen(hearing, stdout=subprocess.PIPE, text=True)
print(listener.stdout.readline())
subprocess.run([*downbeat, 'replay', plan, '--interface', veth.ENDS[0], *to], check=True)
listener.communicate(timeout=60)
sys.exit(listener.returncode)
"""
    said = inside(script, plan, tmp_path, *TO)
    assert said.startswith("2 no one-way delay: arrivals are software") and "--common-time" in said
    assert "Listening on downbeat1; its stamps are software" in said
    assert "5 frames by busy waiting, CLOCK_TAI; 0 not taken" in said and "Late by (ns)" in said
    data = json.loads((tmp_path / "gap-live.json").read_text())
    assert data["frames"]["fine"] == 5 and data["delay_ns"] is None
    assert data["gaps"]["scheduled_ns"] == {"minimum": 100_000, "median": 1_500_000, "maximum": 5_900_000}


@root
@pytest.mark.skipif(shutil.which("dumpcap") is None, reason="dumpcap is not installed")
def test_the_log_of_replay_is_a_schedule_for_a_capture(tmp_path: Path) -> None:
    """Captured by another program, Wireshark's dumpcap; system clock at both ends."""
    plan, capture, log = tmp_path / "plan.csv", tmp_path / "x.pcapng", tmp_path / "log.csv"
    plan.write_text("launch_ns,length,flow\n" + "".join(f"{MILLISECOND * n},{60 + n},{n % 3}\n" for n in range(60)))
    script = """
plan, capture, log, *to = sys.argv[1:]
dumpcap = ['dumpcap', '-q', '-i', veth.ENDS[1], '-w', capture, '-a', 'duration:3']
dump = subprocess.Popen(dumpcap, stderr=subprocess.PIPE, text=True)
while not dump.stderr.readline().startswith('File:'):
    pass
subprocess.run([*downbeat, 'replay', plan, '--interface', veth.ENDS[0], '--log', log, *to], check=True)
dump.communicate(timeout=30)
"""
    tmp_path.chmod(0o777)
    inside(script, plan, capture, log, *TO)
    done = downbeat("gap", capture, "--schedule", log, "--reports", tmp_path, "--common-time")
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "gap-capture.json").read_text())
    assert data["frames"]["fine"] == 60 and data["schedule"]["flows"] == 3
    assert data["delay_ns"]["minimum"] > 0 and data["capture"]["stamp_step_ns"] < 1000


@root
def test_by_so_txtime_the_kernel_has_a_frame_ahead_of_its_launch(tmp_path: Path) -> None:
    """A cable without a queue obeys no launch time: frames leave when they are handed over, and the stamps tell."""
    plan = synthetic.schedule(tmp_path / "plan.csv", [10 * MILLISECOND * number for number in range(20)])
    script = """
from pathlib import Path
from downbeat import replay, schedule
from downbeat.gap import sending, stamping
print(sending.choose(veth.ENDS[0], 'auto').words)
method = sending.Method(time.CLOCK_MONOTONIC, True, 'as told')
sent = sending.send(schedule.read(Path(sys.argv[1])), veth.ENDS[0], bytes(6), method, stamping.clock(veth.ENDS[0]), False)
print(replay.lateness(sent)['p50'], sent.refused)
"""
    words, told = inside(script, plan).splitlines()
    median, refused = map(float, told.split())
    assert words == "busy waiting, CLOCK_TAI" and refused == 0
    assert -sending.AHEAD <= median < -sending.AHEAD / 2


@pytest.mark.parametrize(
    ("options", "launches", "says"),
    [
        (("--absolute",), [5, 10_000], "entry 1 is to leave at 5 ns of CLOCK_TAI.*without --absolute"),
        ((), [0, 50], "entry 2 is to leave 50 ns after.*such pairs. Space them"),
        ((), [100, 50], "entry 2 is 50 ns before the one ahead of it"),
        (("--method", "txtime"), [0, 10_000], "no queueing discipline that obeys SO_TXTIME.*--method wait"),
        (("--method", "soon"), [0, 10_000], "there are auto, txtime and wait"),
        (("--to", "nobody"), [0, 10_000], "'nobody' is no MAC address"),
        (("--rate", "fast"), [0, 10_000], "'fast' is no rate"),
        (("--interface", "nowhere"), [0, 10_000], "nowhere: no such interface"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    tmp_path: Path, options: tuple[str, ...], launches: list[int], says: str
) -> None:
    plan = synthetic.schedule(tmp_path / "plan.csv", launches)
    done = downbeat("replay", plan, "--interface", "lo", *TO, *options)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    with pytest.raises(Refused, match=says):
        raise Refused(done.stderr)


def test_hardware_stamps_count_only_if_every_frame_gets_one() -> None:
    flags = TX_HARDWARE | RX_HARDWARE | RAW_HARDWARE
    assert Offer(flags, 0, 0b10, 0b10).hardware()
    for lacking in (
        Offer(flags, -1, 0b10, 0b10),  # no clock
        Offer(flags & ~TX_HARDWARE, 0, 0b10, 0b10),
        Offer(flags, 0, 0b01, 0b10),  # transmission: off alone
        Offer(flags, 0, 0b10, 0b1000),  # reception: PTP's own frames alone
    ):
        assert not lacking.hardware()


@pytest.mark.parametrize(
    ("rx_filters", "says"),
    [(0b10, "hardware, raw, of the NIC's clock /dev/ptp3"), (0b1000, "software, of the system's clock")],
)
def test_what_the_kernel_tells_of_a_nic_decides(monkeypatch: pytest.MonkeyPatch, rx_filters: int, says: str) -> None:
    """struct ethtool_ts_info of <linux/ethtool.h>; switched on by struct hwtstamp_config, or left alone."""
    asked = []

    def answer(_: str, command: int, words: bytes) -> bytes:
        asked.append((command, words))
        flags = TX_HARDWARE | RX_HARDWARE | RAW_HARDWARE
        return struct.pack("IIiI3II3I", 0x41, flags, 3, 0b10, 0, 0, 0, rx_filters, 0, 0, 0)

    monkeypatch.setattr(stamping, "_request", answer)
    assert str(stamping.clock("eth1")).startswith(says)
    assert asked[0][0] == 0x8946 and struct.unpack_from("I", asked[0][1]) == (0x41,)
    assert asked[1:] == ([(0x89B0, struct.pack("iii", 0, 1, 1))] if rx_filters == 0b10 else [])


def test_an_interface_without_a_clock_says_so() -> None:
    assert str(stamping.clock("lo")).startswith("software, of the system's clock (lo offers no hardware stamps")


def test_one_way_delay_wants_one_clock() -> None:
    first, second, system = Clock(0), Clock(1), Clock(None, "no other")
    live.require_common_time(first, Clock(0), False)
    live.require_common_time(system, Clock(None, "none either"), False)
    live.require_common_time(first, second, True)
    for received, sent in ((first, second), (first, system), (system, first), (system, None)):
        with pytest.raises(Refused, match=r"no one-way delay.*--common-time"):
            live.require_common_time(received, sent, False)


def test_launches_that_count_from_the_start_have_no_time_in_common(tmp_path: Path) -> None:
    plan = synthetic.schedule(tmp_path / "plan.csv", [0, MILLISECOND])
    done = downbeat("gap", "live", "lo", "--schedule", plan, "--common-time")
    assert done.returncode == 2 and "launches count from the start" in done.stderr


@root
def test_delay_from_another_host_is_known_by_clock_tai(tmp_path: Path) -> None:
    """Absolute launches, sent by another process; what arrives late by a delay is the sender's lateness and the cable."""
    start = time.clock_gettime_ns(time.CLOCK_TAI) + 8_000 * MILLISECOND
    plan = synthetic.schedule(tmp_path / "plan.csv", [start + 5 * MILLISECOND * number for number in range(20)])
    script = """
plan, reports, *to = sys.argv[1:]
hearing = [*downbeat, 'gap', 'live', veth.ENDS[1], '--schedule', plan, '--reports', reports, '--one-way', '--common-time']
listener = subprocess.Popen([*hearing, '--patience', '20'], stdout=subprocess.PIPE, text=True)
listener.stdout.readline()
subprocess.run([*downbeat, 'replay', plan, '--interface', veth.ENDS[0], '--absolute', *to], check=True)
listener.communicate(timeout=60)
sys.exit(listener.returncode)
"""
    inside(script, plan, tmp_path, *TO)
    data = json.loads((tmp_path / "gap-live.json").read_text())
    assert data["frames"]["fine"] == 20 and data["drift"]["why_not"] == "one clock"
    assert data["delay_ns"]["minimum"] > 0 and data["delay_ns"]["p50"] < 100 * MILLISECOND


@pytest.mark.parametrize(
    ("shown", "obeys"),
    [
        ('[{"kind":"noqueue","handle":"0:","root":true,"refcnt":2,"options":{}}]', ("", 0)),
        ('[{"kind":"fq","handle":"8001:","root":true,"options":{"limit":10000}}]', ("fq", time.CLOCK_MONOTONIC)),
        (
            '[{"kind":"etf","handle":"1:","root":true,"options":{"clockid":"TAI","delta":200000}}]',
            ("etf", time.CLOCK_TAI),
        ),
        (
            '[{"kind":"mq","root":true},{"kind":"fq","parent":":1"},{"kind":"fq","parent":":2"}]',
            ("fq", time.CLOCK_MONOTONIC),
        ),
        ('[{"kind":"mq","root":true},{"kind":"fq","parent":":1"},{"kind":"fq_codel","parent":":2"}]', ("", 0)),
        ('[{"kind":"mqprio","root":true},{"kind":"etf","parent":":1","options":{"clockid":"TAI"}}]', ("", 0)),
        ("", ("", 0)),
    ],
)
def test_launch_times_go_to_disciplines_that_obey_them(shown: str, obeys: tuple[str, int]) -> None:
    assert sending.obeying(shown) == obeys
