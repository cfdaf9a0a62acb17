# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat estimate`: from a trace and from a saved table; what it refuses, in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from downbeat_toe.__main__ import app
from downbeat_toe.estimator import Estimator
from typer.testing import CliRunner

SECOND = 10**9


@pytest.fixture
def run(make: Callable[..., Estimator], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """`downbeat estimate WORDS` with the library built: status, and what it printed."""
    make()
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["estimate", *words], env={"COLUMNS": "200"})
        return done.exit_code, " ".join(done.output.split())

    return call


def test_a_trace_gives_each_method_its_start(run: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    steady: dict[str, object] = {
        "kind": "report",
        "remote": "192.0.2.9",
        "cwnd": 20_000,
        "segment_size": 1000,
        "phase": 1,
    }
    steady |= {"smoothed_rtt": SECOND // 10, "smallest_rtt": SECOND // 10}
    lines: list[dict[str, object]] = [
        {"kind": "open", "time": 0, "connection": name, "remote": "192.0.2.9"} for name in (1, 2)
    ]
    lines += [steady | {"time": SECOND, "connection": 1}, steady | {"time": SECOND, "connection": 2}]
    lines += [
        {"kind": "transfer", "time": SECOND, "remote": "192.0.2.9", "window": 10 << 8, "round_trip": SECOND // 10}
    ]
    lines += [{"kind": "close", "time": SECOND, "connection": 7}]
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    status, text = run("192.0.2.0/24", "--trace", str(trace), "--transfer", "10kB", "--segment", "1000")
    assert status == 0
    assert "192.0.2.0/24: 2 open, 2 steady, 0 in start-up" in text
    assert "2 steady connections, oldest w = 20.00" in text and "13,333 B" in text
    assert "1 reports, mean window 10, b = 2.00; 10 segments: window 5" in text
    assert "1 lines of the trace refused: unknown" in text


def test_a_saved_table_gives_what_outlives_a_process(
    run: Callable[..., tuple[int, str]], make: Callable[..., Estimator], tmp_path: Path
) -> None:
    estimator, table = make(), tmp_path / "table"
    estimator.transfer(0, IPv4Address("192.0.2.9"), 10 << 8, SECOND)
    table.write_text(estimator.save(0))
    assert "1 reports, mean window 10" in run("192.0.2.1", "--table", str(table))[1]
    assert "nothing known" in run("192.0.2.1", "--table", str(table), "--age", "300s")[1]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("192.0.2.0/24",), "give --table or --trace"),
        (("192.0.2.0/99", "--trace", "x"), "is not a prefix"),
        (("here", "--trace", "x"), "is not an address"),
        (("192.0.2.1", "--trace", "no-such-file"), "cannot be read"),
    ],
)
def test_what_cannot_be_estimated_is_one_line(
    run: Callable[..., tuple[int, str]], words: tuple[str, ...], reason: str
) -> None:
    status, text = run(*words)
    assert status == 2 and reason in text and "Traceback" not in text


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"kind": "open"}', '{"kind": "fly", "time": 0}', '{"kind": "close", "time": NaN}']
)
def test_a_bad_line_of_a_trace_is_named(run: Callable[..., tuple[int, str]], tmp_path: Path, line: str) -> None:
    trace = tmp_path / "trace"
    trace.write_text(f"\n{line}\n")
    status, text = run("192.0.2.1", "--trace", str(trace))
    assert status == 2 and ":2: not a line of a trace" in text.replace(" :", ":")
