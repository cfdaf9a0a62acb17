# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scripts are read as docs/how-to/packet-scripts.md says, and a bad one is refused with its place and a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.adversarial.packetdrill.options import Option, ScriptError
from sim.adversarial.packetdrill.parser import parse
from sim.adversarial.packetdrill.script import Call, NetworkError, Segment, When

HERE = Path("here.pkt")


def test_a_segment_reads_as_packetdrill_writes_it() -> None:
    text = "+.010 > :4001 [ect0] FP.E 1:101(100) ack 7 win 32792 <mss 1460,sackOK,nop,nop,nop,wscale 7>"
    (line,) = parse(text, HERE).lines
    assert (line.direction, line.port, line.when) == (">", 4001, When(10_000_000, 10_000_000, relative=True))
    options = tuple(map(Option, ("nop",) * 3))
    assert line.what == Segment(
        ecn="ect0",
        flags="FP.E",
        sequence=1,
        length=100,
        acknowledgment=7,
        window=32792,
        urgent=None,
        options=(Option("mss", (1460,)), Option("sackOK"), *options, Option("wscale", (7,))),
    )


def test_a_printed_script_reads_as_the_same() -> None:
    said = [
        "S 0:0(0) win 65535 <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 5>",
        "FP. 4294967290:94(100) ack 7 win 0 <nop,nop,sack 1:5 9:11>",
        "[ce] P.UEW 1:2(1) ack 1 win 1 urg 3 <raw fd04beef>",
        "[ect0,dscp 46,ttl 7] . 1:1(0) ack 1 win 1",
        "R 5:5(0)",
    ]
    for text in said:
        (line,) = parse(f"+0 < {text}", HERE).lines
        assert str(line.what) == text


def test_times() -> None:
    script = parse("1.5 close()\n+.2 close()\n+.5~+1 > . 1:1(0) ack 1\n2~3 > . 1:1(0) ack 1\n* > . 1:1(0) ack 1", HERE)
    assert [line.when for line in script.lines] == [
        When(1_500_000_000, 1_500_000_000, relative=False),
        When(200_000_000, 200_000_000, relative=True),
        When(500_000_000, 1_000_000_000, relative=True),
        When(2_000_000_000, 3_000_000_000, relative=False),
        When(0, None, relative=True),
    ]


def test_more_than_a_segment_is_cut_into_segments() -> None:
    lines = parse("--mss=1000\n+1 > P. 1:2501(2500) ack 1\n+1 < FP. 1:1501(1500) ack 1", HERE).lines
    shown = [(line.direction, str(line.what), line.when.earliest) for line in lines]
    assert shown == [
        (">", "p. 1:1001(1000) ack 1", 1_000_000_000),
        (">", "p. 1001:2001(1000) ack 1", 0),
        (">", "P. 2001:2501(500) ack 1", 0),
        ("<", ". 1:1001(1000) ack 1", 1_000_000_000),
        ("<", "FP. 1001:1501(500) ack 1", 0),
    ]


def test_calls_and_errors_of_the_network() -> None:
    text = "+0 listen(ecn=1, no_delay=1)\n+0 read(5) = -1 would_block\n+0 < icmp unreachable frag_needed mtu 600 [1:11(10)]"
    listen, read, icmp = (line.what for line in parse(text, HERE).lines)
    assert listen == Call("listen", (), (("ecn", 1), ("no_delay", 1)), None)
    assert read == Call("read", (5,), (), "-1 would_block")
    assert icmp == NetworkError("unreachable frag_needed", 600, 1, 10)


def test_comments_and_empty_lines_say_nothing() -> None:
    assert len(parse("// rule\n\n# more\n+0 close() // why\n", HERE).lines) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "nothing happens in it"),
        ("soon close()", "'soon' is not a time"),
        ("+.3~+.2 > . 1:1(0) ack 1", "ends before it begins"),
        ("+.1~.2 > . 1:1(0) ack 1", "both ends of a range are relative"),
        ("+0~+1 close()", "only what the core sends may have a range"),
        ("* < . 1:1(0) ack 1", "only what the core sends may have a range"),
        ("+0 < . 1:1000(1000) ack 1", "it ends at 1001"),
        ("+0 < . 5000000000:5000000000(0) ack 1", "it ends at"),
        ("+0 < X 0:0(0)", "flags 'X'"),
        ("+0 < SS 0:0(0)", "flags 'SS'"),
        ("+0 < p. 0:0(0) ack 1", "p is said of what the core sends"),
        ("+0 < . 0:0(0)", "the flag . and ack N belong together"),
        ("+0 < S 0:0(0) ack 1", "the flag . and ack N belong together"),
        ("+0 < [ect2] S 0:0(0)", "[ect2]"),
        ("+0 < S 0:0(0) <mss>", "'mss' is not an option"),
        ("+0 < S 0:0(0) <sack 1>", "'sack 1' is not an option"),
        ("+0 < S 0:0(0) <TS val * ecr 0>", "* in an option"),
        ("+0 < S 0:0(0) win 5 ack 1", "in this order"),
        ("+0 > icmp unreachable frag_needed [1:1(0)]", "the core sends no ICMP errors"),
        ("+0 < icmp unreachable nobody [1:1(0)]", "no unreachable nobody"),
        ("+0 < icmp unreachable", "an ICMP error is"),
        ("+0 dance()", "neither a packet"),
        ("+0 close", "neither a packet"),
        ("--loss=1\n+0 close()", "no setting --loss"),
        ("+0 close()\n--mss=5", "must stand before the first event"),
    ],
)
def test_a_bad_script_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse(text, HERE)
    assert reason in str(caught.value) and str(caught.value).startswith("here.pkt:")
