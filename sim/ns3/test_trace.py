# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat trace`: a line for each event, with the windows before and after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from downbeat_toe import trace

HEADER = "time_ns,flow,event,state,cwnd,ssthresh,reason,acked,live,sent_sequence,sent_length"
RECORD = f"""{HEADER}
1000,0,segment,established,14600.000,65536.000,acknowledged,1460,1,7,0
2000,1,grant,established,1460.000,2920.000,,0,1,500,1460
3000,0,segment,established,8760.500,7300.000,loss,0,1,7,0
4000,0,timer,closed,0.000,0.000,,0,0,7,0
"""


def printed(tmp_path: Path, *arguments: str) -> list[str]:
    record = tmp_path / "events.csv"
    record.write_text(RECORD)
    command = [sys.executable, "-m", "downbeat_toe", "trace", str(record), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


def test_each_event_has_its_line(tmp_path: Path) -> None:
    lines = printed(tmp_path)
    assert len(lines) == 4
    assert "1,000 ns" in lines[0] and "cwnd - -> 14600" in lines[0] and "1460 bytes acknowledged" in lines[0]
    assert "sent 500+1460" in lines[1]
    assert "cwnd 14600 -> 8760" in lines[2] and "ssthresh 65536 -> 7300" in lines[2] and lines[2].endswith("loss")
    assert "cwnd 8760 " in lines[3] and "stale" in lines[3]


def test_the_window_before_is_known_where_the_line_is_left_out(tmp_path: Path) -> None:
    (line,) = printed(tmp_path, "--flow", "0", "--since", "1500", "--until", "3500")
    assert "cwnd 14600 -> 8760" in line


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "other.csv"
    wrong.write_text("a,b\n1,2\n")
    for path, says in ((wrong, "no column time_ns"), (tmp_path / "missing.csv", "make sim writes")):
        done = subprocess.run(
            [sys.executable, "-m", "downbeat_toe", "trace", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert says in done.stderr


def test_lines_come_as_they_are_read() -> None:
    row = dict(zip(HEADER.split(","), RECORD.splitlines()[1].split(","), strict=True))
    assert next(trace.lines(iter([row]), None, 0, None)).startswith("          1,000 ns")
