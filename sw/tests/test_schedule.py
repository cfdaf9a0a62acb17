# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Schedules: what is read of them, and a sentence for whatever is wrong with one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from downbeat_toe import schedule, schedule_file
from downbeat_toe.refused import Refused

RECORD = """time_ns,flow,event,sent_sequence,sent_length,retransmission,live
900,0,segment,5000,0,0,1
1000,0,grant,5000,1460,0,1
2000,1,grant,77,100,0,1
2500,0,grant,6460,1460,0,0
3000,0,timer,5000,1460,1,1
"""


def read(path: Path, text: str) -> schedule.Schedule:
    path.write_text(text)
    return schedule_file.read(path)


def test_launch_and_length_are_enough(tmp_path: Path) -> None:
    found = read(tmp_path / "x.csv", "launch_ns,length\n10,60\n20,61\n")
    assert found.kind == "probe" and found.launch.tolist() == [10, 20] and found.length.tolist() == [60, 61]
    assert found.flow == ("0", "0") and found.sequence.tolist() == [0, 1]


def test_frames_are_numbered_in_their_flow(tmp_path: Path) -> None:
    found = read(tmp_path / "x.csv", "flow,launch_ns,length\n7,10,60\n3,20,60\n7,30,60\n")
    assert found.sequence.tolist() == [0, 0, 1] and found.flows() == ["7", "3"]
    assert found.only("7").launch.tolist() == [10, 30]
    with pytest.raises(Refused, match="no flow 8; it has 7, 3"):
        found.only("8")


def test_the_record_of_make_sim_is_a_schedule_of_its_segments(tmp_path: Path) -> None:
    """What was sent without data or by an event that was not live is none; a frame is 54 bytes longer than its
    payload."""
    found = read(tmp_path / "x.csv", RECORD)
    assert found.kind == "tcp" and found.launch.tolist() == [1000, 2000, 3000]
    assert found.sequence.tolist() == [5000, 77, 5000] and found.length.tolist() == [1514, 154, 1514]
    assert found.retransmission.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column launch_ns and no length"),
        ("a,b\n1,2\n", "no column launch_ns and no length.*nor a record of make sim"),
        ("launch_ns,length\n", "no frame in it"),
        ("launch_ns,length\n10.5,60\n", "line 2: launch_ns is '10.5'.*whole nanoseconds"),
        ("launch_ns,length\n10\n", r"line 2: length is ''.*cut off\?"),
        ("launch_ns,length\n10,60\n-1,60\n", "line 3: launch_ns is -1, outside"),
        ("launch_ns,length\n99999999999999999999,60\n", "outside 0 to 2"),
        ("launch_ns,length\n10,0\n", "1 to 65535 bytes, not 0"),
        ("launch_ns,length\n10,60\n9,60\n", "entry 2 is 1 ns before.*set back.*sort it by launch_ns"),
        ("launch_ns,length\n\x00\xff", "line 2: launch_ns is "),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        read(tmp_path / "x.csv", text)
    with pytest.raises(Refused, match="no such file"):
        schedule_file.read(tmp_path / "missing.csv")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00\xff\xfe")
    with pytest.raises(Refused, match="not a CSV text file"):
        schedule_file.read(tmp_path / "x.csv")


@pytest.mark.parametrize(("length", "least"), [(60, 672), (20, 672), (1514, 12304)])
def test_a_frame_needs_its_time_on_the_wire(tmp_path: Path, length: int, least: int) -> None:
    """IEEE 802.3 at 1 Gb/s: 8 bytes of preamble, 64 to 1,518 of frame with FCS, 12 of gap: 84 to 1,538 bytes of 8
    ns."""
    apart = f"launch_ns,length\n0,{length}\n{{}},60\n"
    schedule.require_space(read(tmp_path / "x.csv", apart.format(least)), 10**9)
    with pytest.raises(Refused, match=f"entry 2 is to leave {least - 1} ns after.*for {least} ns; 1 such pairs"):
        schedule.require_space(read(tmp_path / "x.csv", apart.format(least - 1)), 10**9)


def test_a_frame_time_that_is_no_whole_nanosecond_may_be_rounded_down(tmp_path: Path) -> None:
    """84 bytes at 10 Gb/s are 67.2 ns, and launches are whole ones: frames back to back are 67 or 68 ns apart."""
    assert schedule.wire_time(np.array([60]), 10**10)[0] == pytest.approx(67.2)
    apart = "launch_ns,length\n0,60\n67,60\n134,60\n{},60\n"
    schedule.require_space(read(tmp_path / "x.csv", apart.format(202)), 10**10)
    with pytest.raises(Refused, match=r"entry 4 is to leave 66 ns after.*for 67 ns; 1 such pairs"):
        schedule.require_space(read(tmp_path / "x.csv", apart.format(200)), 10**10)


def test_a_schedule_that_is_too_tight_names_the_links_option(tmp_path: Path) -> None:
    planned = read(tmp_path / "x.csv", "launch_ns,length\n0,1514\n1,1514\n")
    with pytest.raises(Refused, match=r"name a faster link \(--link\)$"):
        schedule.require_space(planned, 10**9, "--link")
