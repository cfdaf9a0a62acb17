# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sending at given times over a virtual cable, and what cannot be sent."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from downbeat_toe.gap import methods, sending, veth
from downbeat_toe.refused import Refused

from sw.tests.gap import synthetic
from sw.tests.gap.calling import downbeat, inside

MILLISECOND = 1_000_000  # ns
TO = ("--to", veth.ADDRESS, "--rate", "10Gb/s")


@pytest.mark.skipif(shutil.which("dumpcap") is None, reason="dumpcap is not installed")
def test_the_log_of_replay_is_a_schedule_for_a_capture(tmp_path: Path) -> None:
    """Captured by another program, Wireshark's dumpcap; system clock at both ends."""
    plan, capture, log = tmp_path / "plan.csv", tmp_path / "x.pcapng", tmp_path / "log.csv"
    plan.write_text("launch_ns,length,flow\n" + "".join(f"{MILLISECOND * n},{60 + n},{n % 3}\n" for n in range(60)))
    script = """
plan, capture, log, *to = sys.argv[1:]
dumpcap = ['dumpcap', '-q', '-i', veth.ENDS[1], '-w', capture]
dump = subprocess.Popen(dumpcap, stderr=subprocess.PIPE, text=True)
while not dump.stderr.readline().startswith('File:'):
    pass
subprocess.run([*downbeat, 'replay', plan, '--interface', veth.ENDS[0], '--log', log, *to], check=True)
time.sleep(1)
dump.send_signal(2)  # SIGINT: it writes what it has
dump.communicate(timeout=30)
"""
    tmp_path.chmod(0o777)
    inside(script, plan, capture, log, *TO)
    done = downbeat("gap", capture, "--schedule", log, "--reports", tmp_path, "--common-time")
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "gap-capture.json").read_text())
    assert data["frames"]["fine"] == 60 and data["schedule"]["flows"] == 3
    assert data["delay_ns"]["minimum"] > 0 and data["capture"]["stamp_step_ns"] < 1000


def test_by_so_txtime_the_kernel_has_a_frame_ahead_of_its_launch(tmp_path: Path) -> None:
    """A cable without a queue obeys no launch time: frames leave when they are handed over, and the stamps tell."""
    plan = synthetic.schedule(tmp_path / "plan.csv", [10 * MILLISECOND * number for number in range(50)])
    script = """
from pathlib import Path
from downbeat_toe import schedule_file
from downbeat_toe.gap import methods, replay, sending, stamping
print(methods.choose(veth.ENDS[0], 'auto').words)
method = methods.Method(time.CLOCK_MONOTONIC, True, 'as planned')
sent = sending.send(schedule_file.read(Path(sys.argv[1])), veth.ENDS[0], bytes(6), method, stamping.clock(veth.ENDS[0]), False)
print(replay.lateness(sent)['minimum'], sent.refused)
"""
    words, numbers = inside(script, plan).splitlines()
    minimum, refused = map(float, numbers.split())
    assert words == "busy waiting, CLOCK_TAI" and refused == 0
    # Of one frame of 50 at least on a machine however busy; none is ahead by more.
    assert -sending.AHEAD <= minimum < -sending.AHEAD / 2


@pytest.mark.parametrize(
    ("options", "launches", "says"),
    [
        (("--absolute",), [5, 10_000], "entry 1 is to leave at 5 ns of CLOCK_TAI.*without --absolute"),
        ((), [0, 50], "entry 2 is to leave 50 ns after.*such pairs. Space them"),
        ((), [100, 50], "entry 2 is 50 ns before the one ahead of it"),
        (("--method", "txtime"), [0, 10_000], "no queueing discipline that obeys SO_TXTIME.*--method wait"),
        (("--method", "soon"), [0, 10_000], "there are auto, txtime and wait"),
        (("--to", "nobody"), [0, 10_000], "'nobody' is not a MAC address"),
        (("--rate", "fast"), [0, 10_000], "'fast' is not a rate"),
        (("--interface", "nowhere"), [0, 10_000], "nowhere: no such interface"),
    ],
    ids=["past", "tight", "order", "txtime", "method", "address", "rate", "interface"],
)
def test_what_cannot_be_sent_is_refused(
    tmp_path: Path, options: tuple[str, ...], launches: list[int], says: str
) -> None:
    plan = synthetic.schedule(tmp_path / "plan.csv", launches)
    done = downbeat("replay", plan, "--interface", "lo", *TO, *options)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    with pytest.raises(Refused, match=says):
        raise Refused(done.stderr)


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
    ids=["noqueue", "fq", "etf", "mq-fq", "mq-mixed", "mqprio-etf", "none"],
)
def test_launch_times_go_to_disciplines_that_obey_them(shown: str, obeys: tuple[str, int]) -> None:
    assert methods.obeying(shown) == obeys
