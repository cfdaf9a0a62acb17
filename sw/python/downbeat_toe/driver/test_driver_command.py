# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The commands as a user types them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from downbeat_toe.__main__ import app
from downbeat_toe.driver.conftest import Host
from downbeat_toe.driver.nic_status import connections
from downbeat_toe.driver.process import Nic

LIMIT = 60.0  # seconds


def _downbeat(*words: str) -> Result:
    return CliRunner().invoke(app, words, env={"COLUMNS": "200"})


def test_send_to_listen(nic: Nic, tmp_path: Path) -> None:
    content = os.urandom(300_000)
    source, sink = tmp_path / "source", tmp_path / "sink"
    source.write_bytes(content)
    listens = [sys.executable, "-m", "downbeat_toe", "listen", "5001", "--device", nic.uri, "--to", str(sink)]
    with subprocess.Popen(listens, stderr=subprocess.PIPE, text=True) as listener:
        words = ["send", str(source), "--to", "10.0.0.1:5001", "--device", nic.uri]
        words += ["--startup", "paced", "--steady", "cubic"]
        end = time.monotonic() + LIMIT
        while (done := _downbeat(*words)).exit_code and time.monotonic() < end:  # until it listens
            assert "refused" in done.output
        assert "300000 bytes to 10.0.0.1:5001" in done.output
        _, told = listener.communicate(timeout=LIMIT)
    assert "300000 bytes from 10.0.0.1:" in told and sink.read_bytes() == content


def test_ls_and_top_show_connections(nic: Nic) -> None:
    host = Host(nic.uri)
    with host.device:
        out, accepted = host.pair(5001)
        sent = read = 0
        while read < 150_000:  # the path loses a segment after each 64 KiB
            sent += out.send(bytes(150_000 - sent)) if sent < 150_000 else 0
            read += len(accepted.receive() or b"")
            host.step()
        host.until(lambda: out.info.losses == 2)
        listed = _downbeat("ls", "--socket", str(nic.socket)).output
        assert "loopback 0.1.0: 10.0.0.1/24, 16 flows, 1 of 4 ports taken" in listed
        shown = _downbeat("top", "--socket", str(nic.socket), "--every", "10ms", "--count", "2").output
        for text in (listed, shown):
            assert text.count("ESTABLISHED") >= 2 and "10.0.0.1:5001" in text
        rows = {(row["flow"], row["generation"]): row for row in connections(nic.socket)}
        assert rows[out.info.flow, out.info.generation]["losses"] == 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["ls", "--socket", "/none"], "/none: no NIC listens there"),
        (["send", "/etc/hostname", "--to", "10.0.0.1"], "'10.0.0.1' is no place"),
        (["send", "/none", "--to", "10.0.0.1:1", "--device", "DEVICE"], "No such file"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "simd:/none"], "no NIC listens there"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "usb:1"], "'usb:1' names no device"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "DEVICE"], "the peer refused"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "DEVICE", "--startup", "warp"], "'warp'"),
        (["top", "--socket", "/none", "--every", "soon"], "'soon' is no time"),
        (["run"], "no program: downbeat run -- PROGRAM"),
    ],
)
def test_refusals_are_one_line(nic: Nic, words: list[str], problem: str) -> None:
    done = _downbeat(*(nic.uri if word == "DEVICE" else word for word in words))
    assert done.exit_code == 2 and problem in done.output and done.output.count("\n") == 1, done.output
