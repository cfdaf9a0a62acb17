# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The commands as a user types them."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from downbeat_toe.__main__ import app
from downbeat_toe.driver import command as driver
from downbeat_toe.driver.nic_status import connections
from downbeat_toe.structures import Parameters
from rich.console import Console
from typer.testing import CliRunner, Result

from sw.tests.driver.conftest import Host
from sw.tests.driver.process import Nic

LIMIT = 60.0  # seconds


def _downbeat(*words: str) -> Result:
    return CliRunner().invoke(app, words, env={"COLUMNS": "200"})


@pytest.mark.parametrize("append", [False, True])
def test_send_to_listen(append: bool, nic: Nic, tmp_path: Path) -> None:
    """With `--output FILE`, and with `>> FILE` of a shell. Each segment has a row in the file of stamps."""
    content = os.urandom(300_000)
    source, sink, stamps = (tmp_path / name for name in ("source", "sink", "stamps.csv"))
    source.write_bytes(content)
    sink.write_bytes(b"before")
    listens = [sys.executable, "-m", "downbeat_toe", "listen", "5001", "--device", nic.uri]
    listens += [] if append else ["--output", str(sink)]
    with (
        sink.open("ab" if append else "rb") as output,
        subprocess.Popen(listens, stdout=output, stderr=subprocess.PIPE, text=True) as listener,
    ):
        words = ["send", str(source), "--to", "10.0.0.1:5001", "--device", nic.uri]
        words += ["--startup", "paced", "--steady", "cubic", "--stamps", str(stamps)]
        end = time.monotonic() + LIMIT
        while (done := _downbeat(*words)).exit_code and time.monotonic() < end:  # until it listens
            assert "refused" in done.output
        assert "300000 bytes to 10.0.0.1:5001" in done.output
        _, printed = listener.communicate(timeout=LIMIT)
    head, *rows = stamps.read_text().splitlines()
    assert head == "direction,bytes,sfd_ns" and f"{len(rows)} stamps in {stamps}" in done.output
    ends = [int(row.split(",")[1]) for row in rows if row.startswith("sent,")]
    assert ends == sorted(ends) and ends[-1] == 300_001  # with the FIN
    assert all(re.fullmatch(r"(sent|received),\d+,\d+\.\d{5}", row) for row in rows)
    assert "300000 bytes from 10.0.0.1:" in printed and sink.read_bytes() == b"before" * append + content


ARGUMENTS = (
    "--startup",
    "paced",
    "--startup-argument",
    "n=20, gap=1ms",
    "--steady",
    "aimd",
    "--steady-argument",
    "a=1, b=0.5",
)
# As Paced.scala and Aimd.scala say: n, the gap in 2^-16 ns from bit 16 on; a in 2^-16, b in 2^-16 from bit 24 on.
BITS = 20 | 1_000_000 << 32, 1 << 16 | 1 << 39


@pytest.mark.parametrize("command", ["send", "listen"])
def test_policies_are_given_their_arguments(command: str, nic: Nic, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Parameters] = []
    monkeypatch.setattr(driver, "send_file", lambda *arguments: given.append(arguments[4].parameters))
    monkeypatch.setattr(driver, "receive_file", lambda *arguments: given.append(arguments[-1].parameters))
    words = {"send": ("/etc/hostname", "--to", "10.0.0.1:1"), "listen": ("5001",)}[command]
    assert _downbeat(command, *words, "--device", nic.uri, *ARGUMENTS).exit_code == 0
    (parameters,) = given
    assert (parameters.startup, parameters.steady) == (b"paced", b"aimd")
    assert (list(parameters.startup_argument), list(parameters.steady_argument)) == ([BITS[0], 0], [BITS[1], 0])


def test_run_hands_arguments_on_as_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda path, words: given.append(words[1:]))
    _downbeat("run", "--device", "sim:x", *ARGUMENTS, "--", "true")
    _downbeat("run", "--device", "sim:x", "--startup", "paced", "--", "true")
    _downbeat("run", "--device", "sim:x,gateway=y", "--wait-estimate", "1.5ms", "--", "true")
    policies = ["--startup", "paced", "--steady", "aimd"]
    arguments = ["--startup-argument", f"{BITS[0]:#x}", "--steady-argument", f"{BITS[1]:#x}"]
    assert given == [
        ["--device", "sim:x", *policies, *arguments, "--", "true"],
        ["--device", "sim:x", "--startup", "paced", "--", "true"],
        ["--device", "sim:x,gateway=y,wait=2", "--", "true"],
    ]


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
        listed = _downbeat("ls", "--device", nic.uri).output
        assert "loopback 0.1.0: 10.0.0.1/24, flows: 2 used, 14 free, programs: 1 of 4," in listed
        shown = _downbeat("top", "--device", nic.uri, "--every", "10ms", "--count", "2").output
        assert shown.count("14 free") == 2 and shown.endswith("\n"), "a pipe gets each refresh, in whole lines"
        for text in (listed, shown[shown.rindex("loopback 0.1.0") :]):
            assert text.count("ESTABLISHED") == 2 and "10.0.0.1:5001" in text
            assert "14 free" in text and " 1.000 " in text  # ms, of the loopback's path reports
            assert text.count(" 1.000 ") == 1, "who only receives has no sample"
        rows = {(row["flow"], row["generation"]): row for row in connections(nic.socket)}
        assert rows[out.info.flow, out.info.generation]["losses"] == 2


ROW = {
    "program": "downbeat listen",
    "process": 1234567,
    "local_port": 5001,
    "remote_ip": 0xC0A80A0A,
    "remote_port": 54321,
}
ROW |= {"state": "ESTABLISHED", "let_go": False, "startup": "vegasstart", "estimate": "gateway", "steady": "logistic"}
ROW |= {"flow": 0, "generation": 0, "acknowledged": 0, "cwnd": 1_000_000, "ssthresh": 1 << 30, "rtt_ns": 152_660_000}


@pytest.mark.parametrize(("width", "columns"), [(200, 12), (100, 8), (80, 5)])
def test_a_narrow_terminal_has_whole_columns(width: int, columns: int) -> None:
    """The least important are left out, and no cell is cut."""
    console = Console(width=width, file=io.StringIO(), record=True)
    table = driver._table([ROW | {"losses": 1}], {(0, 0): 0}, 1.0, width)
    console.print(table)
    shown = console.export_text()
    assert len(table.columns) == columns and "…" not in shown and len(shown.splitlines()) == 2
    for text in ("downbeat listen 1234567", "192.168.10.10:54321", "ESTABLISHED", "152.660"):
        assert text in shown
    assert str(1 << 30) not in shown, "an ssthresh that nobody set"


CONNECTS = """
import socket, time
while True:
    try:
        peer = socket.create_connection(("10.0.0.1", 5001))
        break
    except ConnectionRefusedError:  # until it listens
        time.sleep(0.01)
print("there", flush=True)
peer.recv(1)
"""


def test_programs_have_their_names(nic: Nic) -> None:
    listens = [sys.executable, "-m", "downbeat_toe", "listen", "5001", "--device", nic.uri]
    runs = [sys.executable, "-m", "downbeat_toe", "run", "--device", nic.uri, "--", sys.executable, "-c", CONNECTS]
    with (
        subprocess.Popen(listens, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listener,
        subprocess.Popen(runs, stdout=subprocess.PIPE, text=True) as runner,
    ):
        try:
            assert runner.stdout and runner.stdout.readline() == "there\n"
            names = {row["program"] for row in connections(nic.socket)}
        finally:
            runner.kill()
            listener.kill()
    assert names == {"downbeat listen", Path(sys.executable).name}


SENDS = ("send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "DEVICE")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["ls", "--device", "simd:/none"], "/none: no NIC listens there"),
        (["ls", "--device", "uio:/dev/uio0"], "only a NIC process lists its connections"),
        (["send", "/etc/hostname", "--to", "10.0.0.1"], "'10.0.0.1' is not an address and port"),
        (["send", "/none", "--to", "10.0.0.1:1", "--device", "DEVICE"], "/none: No such file or directory"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "simd:/none"], "no NIC listens there"),
        ([*SENDS, "--stamps", "/none/stamps.csv"], "--stamps"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "usb:1"], "'usb:1' names no device"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "DEVICE"], "the peer refused"),
        (["send", "/etc/hostname", "--to", "10.0.0.1:1", "--device", "DEVICE", "--startup", "warp"], "'warp'"),
        (
            [*SENDS, "--startup", "paced", "--startup-argument", "n=0"],
            "paced: n=0 is out of range, paced takes n from 1",
        ),
        ([*SENDS, "--startup-argument", "n=20"], "standard takes none"),
        ([*SENDS, "--wait-estimate", "5ms"], "--wait-estimate: name the gateway: --device DEVICE,gateway="),
        ([*SENDS, "--startup", "miss"], "miss needs an argument: miss takes m from"),
        (["run", "--steady", "aimd", "--steady-argument", "c=1", "true"], "aimd takes a from"),
        (["run", "--startup", "warp", "true"], "no congestion policy 'warp' in this build, use standard"),
        (["listen", "5001", "--output", "/none/x"], "--output /none/x: no directory /none: make it first"),
        (["top", "--device", "simd:/none", "--every", "soon"], "'soon' is not a time"),
        (["run"], "no program: downbeat run -- PROGRAM"),
    ],
)
def test_refusals_are_one_line(nic: Nic, words: list[str], problem: str) -> None:
    done = _downbeat(*(nic.uri if word == "DEVICE" else word for word in words))
    assert done.exit_code == 2 and problem in done.output and done.output.count("\n") == 1, done.output
