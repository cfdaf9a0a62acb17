# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A difference of the core from a script is found, and reported so that the reader need not run it again."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from downbeat_toe.library import load
from scapy.layers.inet import TCP
from scapy.utils import rdpcap

from sim.adversarial.packetdrill.parser import parse
from sim.adversarial.packetdrill.runner import ScriptFailedError, run
from sim.lib import verilated

HERE = Path("here.pkt")
OPENED = """\
+0 listen()
+0 < S 0:0(0) win 65535 <mss 1460>
+0 > S. 0:0(0) ack 1 <mss 1460>
+.010 < . 1:1(0) ack 1 win 65535
"""


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return load(verilated.library() / "libdownbeat_sim.so")


def failure(text: str, library: ctypes.CDLL) -> str:
    with pytest.raises(ScriptFailedError) as caught:
        run(parse(text, HERE), library)
    return str(caught.value)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("+0 > . 1:1(0) ack 1", "it did not come"),
        ("+.010 < P. 1:101(100) ack 1\n+.200 state(ESTABLISHED)", "nobody expected . 1:1(0) ack 101"),
        ("+.010 < P. 1:101(100) ack 1\n+.039 > . 1:1(0) ack 101", "it did not come"),
        ("+.010 < P. 1:101(100) ack 1\n+.041 > . 1:1(0) ack 101", "it came +0.04"),
        ("+.010 < P. 1:101(100) ack 1\n+.041~+.050 > . 1:1(0) ack 101", "it came +0.04"),
        ("+.010 < P. 1:101(100) ack 1\n+.040 > . 1:1(0) ack 102", "acknowledgment 101, not 102"),
        ("+.010 < P. 1:101(100) ack 1\n+.040 > P. 1:1(0) ack 101", "flags ., not P."),
        ("+.010 < P. 1:101(100) ack 1\n+.040 > . 2:2(0) ack 101", "sequence 1, not 2"),
        ("+.010 < P. 1:101(100) ack 1\n+.040 > . 1:1(0) ack 101 win 5", "window 65535, not 5"),
        ("+.010 < P. 1:101(100) ack 1\n+.040 > . 1:1(0) ack 101 <nop>", "options <>, not <nop>"),
        ("+.010 < P. 1:101(100) ack 1\n+.040 > [ce] . 1:1(0) ack 101", "ecn noecn, not ce"),
        ("+.010 < P. 1:101(100) ack 1\n+.040 > :4001 . 1:1(0) ack 101", "one to port 4000 came"),
        ("+.010 write(10)\n+0 > P. 1:10(9) ack 1", "length 10, not 9"),
        ("+.010 write(10)", "nobody expected P. 1:11(10)"),
        ("+.010 write(10) = 9", "write() = 10, not 9"),
        ("+.010 read(1)", "would_block"),
        ("+.010 state(CLOSED)", "the connection is ESTABLISHED, not CLOSED"),
        ("+.010 closed(reset)", "the connection is ESTABLISHED, not CLOSED (reset)"),
        ("+.010 < R 1:1(0)\n+0 closed(refused)", "the connection is CLOSED (reset), not CLOSED (refused)"),
        ("+.010 state(OPEN)", "no OPEN; there are CLOSED"),
        ("+.010 :4001 write(1)", "there is no connection yet"),
    ],
)
def test_each_difference_is_found(lines: str, reason: str, library: ctypes.CDLL) -> None:
    assert reason in failure(f"{OPENED}{lines}\n", library)


def test_a_failure_says_where_what_and_what_was_before(library: ctypes.CDLL) -> None:
    said = failure(f"{OPENED}+.010 < P. 1:101(100) ack 1 win 65535\n+.040 > . 1:1(0) ack 99\n", library).splitlines()
    assert said[0] == "here.pkt:6: +.040 > . 1:1(0) ack 99"
    assert said[1] == "expected: . 1:1(0) ack 99"
    assert said[2] == "came:     . 1:1(0) ack 101 win 65535"
    assert said[4] == "the last packets:"
    assert said[-2].endswith("< P. 1:101(100) ack 1 win 65535") and said[-1].endswith("> . 1:1(0) ack 101 win 65535")


def test_a_quarter_of_an_hour_takes_no_time(library: ctypes.CDLL) -> None:
    run(parse(f"{OPENED}+900 state(ESTABLISHED)\n", HERE), library)


def test_the_peers_numbers_may_be_chosen(library: ctypes.CDLL) -> None:
    """Sequence numbers wrap within the first segment."""
    run(
        parse(
            f"--remote_isn=0xfffffff0\n{OPENED}+.010 < P. 1:101(100) ack 1\n+.040 > . 1:1(0) ack 101\n+0 read(100)",
            HERE,
        ),
        library,
    )


def test_acks_may_be_ignored_for_a_while(library: ctypes.CDLL) -> None:
    lines = "+0 acks(ignored)\n+.010 < . 1:14601(14600) ack 1\n+.010 acks(checked)\n+0 read(14600)\n"
    run(parse(OPENED + lines, HERE), library)
    assert "nobody expected" in failure(OPENED + lines.replace("ignored", "checked"), library)


def test_a_capture_has_every_packet(library: ctypes.CDLL, tmp_path: Path) -> None:
    run(parse(f"{OPENED}+.010 write(10)\n+0 > P. 1:11(10) ack 1\n", HERE), library, pcap=tmp_path / "x.pcap")
    packets = rdpcap(str(tmp_path / "x.pcap"))
    assert [str(packet[TCP].flags) for packet in packets] == ["S", "SA", "A", "PA"]
    assert 0.019 < float(packets[3].time - packets[0].time) < 0.021
