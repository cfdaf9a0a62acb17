# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Whatever is wrong with files, places and interfaces: one sentence, status 2, before anything is sent; never a
traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from downbeat_toe import trace
from downbeat_toe.refused import Refused

from sw.tests.gap import synthetic
from sw.tests.gap.calling import downbeat, inside

MILLISECOND = 1_000_000  # ns
TO = ("--to", "02:00:00:00:00:02", "--rate", "1Gb/s")


def plan(place: Path, length: int = 100) -> Path:
    return synthetic.schedule(place / "plan.csv", [MILLISECOND * number for number in range(3)], length)


def refused(says: str, *arguments: object) -> None:
    done = downbeat(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and re.search(says, done.stderr), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_a_log_is_looked_at_before_anything_is_sent(tmp_path: Path) -> None:
    """The interface does not exist: who looks at it first says so."""
    command = ("replay", plan(tmp_path), "--interface", "nowhere", *TO)
    refused(
        "--log .*missing/log.csv: no directory .*missing: make it first",
        *command,
        "--log",
        tmp_path / "missing/log.csv",
    )
    refused("--log .*: a directory; give a file in it", *command, "--log", tmp_path)


@pytest.mark.parametrize("command", ["capture", "live"])
def test_reports_are_looked_at_first(tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("")
    for place, says in ((tmp_path / "missing/out", "no directory .*missing: make it"), (tmp_path / "file", "a file")):
        refused(f"--reports .*{says}", "gap", command, "nowhere", "--schedule", plan(tmp_path), "--reports", place)


@pytest.mark.parametrize("command", ["replay", "live", "from"])
def test_an_interface_that_is_not_there_is_named(tmp_path: Path, command: str) -> None:
    long = "an-interface-with-a-long-name"
    for name in ("nowhere", long, "../lo") if command == "replay" else (long,):
        words: tuple[object, ...] = ("replay", plan(tmp_path), "--interface", name, *TO)
        if command == "live":
            words = ("gap", "live", name, "--schedule", plan(tmp_path), "--reports", tmp_path)
        elif command == "from":
            words = ("gap", "live", "lo", "--from", name, "--schedule", plan(tmp_path), "--reports", tmp_path, *TO)
        refused(f"{re.escape(name)}: no such interface; there are .*lo", *words)


def test_a_frame_above_the_mtu_is_named(tmp_path: Path) -> None:
    """A new virtual cable has an MTU of 1,500 bytes; Ethernet's header is 14 more."""
    script = """
from pathlib import Path
from downbeat_toe import schedule_file
from downbeat_toe.gap import interfaces
from downbeat_toe.refused import explained
with explained():
    interfaces.require(veth.ENDS[0])
    interfaces.require_mtu(schedule_file.read(Path(sys.argv[1])), veth.ENDS[0])
"""
    inside(script, plan(tmp_path, 1514))
    with pytest.raises(AssertionError, match=r"entry 1 has 1515 bytes, downbeat0 carries 1514 \(MTU 1500"):
        inside(script, plan(tmp_path, 1515))


RECORD = ",".join(trace.COLUMNS)
ROW = "5,0,grant,established,14600,65535,,0,1,5000,1460"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xd4\xc3\xb2\xa1\x02\x00\xff\xfe", "not a record of events"),
        (b"", "no column time_ns"),
        (b"launch_ns,length\n1,60\n", "no column time_ns"),
        (f"{RECORD}\n{ROW}\n{ROW[:20]}\n".encode(), "line 3: no cwnd: the record was cut off"),
        (f"{RECORD}\n{ROW.replace('14600', 'many')}\n".encode(), "line 2: cwnd is 'many', not a number"),
        (f"{RECORD}\nx{ROW}\n".encode(), "line 2: time_ns is 'x5', not a number"),
    ],
    ids=["capture", "empty", "schedule", "cut", "window", "time"],
)
def test_trace_says_what_is_no_record(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(Refused, match=says):
        list(trace.read(tmp_path / "x.csv"))


def test_trace_ends_with_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\xd4\xc3\xb2\xa1")
    refused("not a record of events", "trace", tmp_path / "x.csv")
    refused("a directory; give a file in it", "trace", tmp_path)
    refused("no such file; make sim writes", "trace", tmp_path / "missing.csv")


@pytest.mark.parametrize("command", [("replay", "--interface", "lo"), ("board", "send")])
def test_a_schedule_that_is_not_there_is_made_by_schedule(tmp_path: Path, command: tuple[str, ...]) -> None:
    missing = tmp_path / "missing.csv"
    refused("missing.csv: no such file; downbeat schedule writes one", *command, "--to", TO[1], missing)


def test_estimate_without_its_library_ends_with_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWNBEAT_ESTIMATOR", str(tmp_path / "none.so"))
    refused("none.so is not a library", "estimate", "192.0.2.1", "--trace", tmp_path / "trace")


@pytest.mark.parametrize("command", [("issue", 7), ("rotate",), ("deny", 7), ("list",)])
def test_what_is_no_key_file_is_named(tmp_path: Path, command: tuple[object, ...]) -> None:
    file = tmp_path / "keys"
    for content, says in (
        (b"\xd4\xc3\xb2\xa1", "keys: no key file"),
        (b"key 1 zz\n", "keys:1: use 'key ID 64-HEX-DIGITS'"),
        (b"key one " + b"ab" * 32, "keys:1: use 'key ID 64-HEX-DIGITS'"),
        (b"key 1 " + b"ab" * 32 + b"\ndeny all", "keys:2: use .* or 'deny REPORTER'"),
    ):
        file.write_bytes(content)
        refused(says, "gateway", "keys", command[0], file, *command[1:])
        assert file.read_bytes() == content


def test_where_no_key_file_can_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "none", tmp_path / "file"):
        refused(f"keys: no directory {place}: make it first", "gateway", "keys", "new", place / "keys")


def test_without_a_schedule_both_options_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.pcap").write_bytes(synthetic.pcap([(0, synthetic.segment(0, 100))]))
    monkeypatch.chdir(tmp_path)
    refused(r"no schedule to compare with.*--schedule FILE.*--paced 20Mb/s", "gap", "x.pcap")


@pytest.mark.parametrize("command", [("gap", "selftest"), ("schedule", "pairs")])
def test_a_gap_needs_its_unit(command: tuple[str, ...]) -> None:
    refused("'5' is not a time: write it with its unit", *command, "--gap", 5)


@pytest.mark.parametrize("gap", ["999ns", "11s"])
def test_a_selftests_gap_has_bounds(gap: str) -> None:
    refused(f"--gap {gap}: use 1us to 10s", "gap", "selftest", "--gap", gap)


def test_a_selftest_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(synthetic.pcap([(0, synthetic.segment(0, 100))]))
    (tmp_path / "x.json").write_text('{"floor": {"quantiles_ns": [3, 2, null]}}')
    command = ("gap", tmp_path / "x.pcap", "--schedule", plan(tmp_path), "--reports", tmp_path, "--selftest")
    for name, says in (("x.json", "not a report of downbeat gap selftest"), ("y.json", "No such file")):
        refused(says, *command, tmp_path / name)
