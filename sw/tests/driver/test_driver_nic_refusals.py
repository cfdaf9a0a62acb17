# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Refusals of a NIC process: programs, sockets, arguments."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from downbeat_toe.driver import DriverError, Error, nic_status
from downbeat_toe.refused import Refused

from sw.tests.driver.conftest import LOOPED, MODEL, Host
from sw.tests.driver.process import Nic

SLOW, LIMIT = 0.5, 10.0  # seconds


def test_no_nic_there(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="no NIC listens there: start one with downbeat nic") as refused:
        Host(f"simd:{tmp_path}/none")
    assert refused.value.code is Error.NO_DEVICE


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: nobody else's socket to be refused at")
def test_no_permission(nic: Nic) -> None:
    asks = (
        "import os\nfrom downbeat_toe.driver import Device\nfrom downbeat_toe.driver.library import load\n"
        f"library = load()\nos.seteuid(65534)\nDevice({nic.uri!r}, library)"
    )
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=False)
    assert "no permission: the NIC's owner sets it" in done.stderr


def test_another_format_is_refused_with_both_named(nic: Nic) -> None:
    """A program of another release says hello."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(str(nic.socket))
        line.send(struct.pack("<IIII", nic_status.PROTOCOL, 9, 0xABCD, 1))
        error, problem = struct.unpack_from("<i252s", line.recv(4096))
    assert error == Error.WRONG_VERSION
    assert "host format 1/" in problem.decode() and "9/0000abcd" in problem.decode()


def test_a_program_may_be_slow_to_say_hello(nic: Nic) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as slow:
        slow.settimeout(LIMIT)
        slow.connect(str(nic.socket))
        time.sleep(SLOW)
        slow.send(struct.pack("<IIII", nic_status.PROTOCOL, 0, 0, nic_status.DEVICE))
        assert json.loads(slow.recv(1 << 16)).keys() == nic_status.device(nic.socket).keys()


def test_programs_that_say_nothing_hold_up_nobody_and_the_oldest_of_many_is_sent_away(nic: Nic) -> None:
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) for _ in range(65)]
        for line in silent:
            line.settimeout(LIMIT)
            line.connect(str(nic.socket))
        assert silent[0].recv(1) == b""
        assert nic_status.device(nic.socket)


def test_two_nics_at_one_socket(nic: Nic) -> None:
    with pytest.raises(Refused, match="a NIC listens there already"), Nic(nic.socket, *LOOPED):
        pass


def test_where_no_socket_can_be_made_the_option_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(Refused, match=r"none/deep/nic.sock: no socket .* as --device simd:/tmp/nic\.sock"),
        Nic(tmp_path / "none" / "deep" / "nic.sock", *LOOPED),
    ):
        pass


def test_only_a_dead_nic_s_socket_is_removed(nic: Nic, tmp_path: Path) -> None:
    file, living = tmp_path / "file", tmp_path / "living"
    file.write_text("precious")
    with pytest.raises(Refused, match="what is there is not a socket: name another --device"):
        Nic(file, *LOOPED).start()
    assert file.read_text() == "precious"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(living))
        other.listen()
        with pytest.raises(Refused, match="another's socket is there"):
            Nic(living, *LOOPED).start()
        assert living.is_socket()
    nic.stop(signal.SIGKILL)
    assert nic.socket.is_socket()
    nic.start()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--preset", "none"], "no simulated device 'none'"),
        (["--ip", "10.0.0"], "is not an IPv4 address"),
        (["--ip", "10.0.0.1/40"], "prefix of 1 to 32 bits"),
        (["--mac", "x"], "is not a MAC address"),
        (["--delay", "10000000000"], "is not a delay: whole ns, less than 10 s"),
        *(
            (["--mode", mode], f"'{mode}' is not a mode: three or four octal")
            for mode in ("9", "66", "0x1b0", "66O", "00660")
        ),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: list[str], problem: str) -> None:
    with pytest.raises(Refused, match=problem), Nic(tmp_path / "nic.sock", *LOOPED, *arguments):
        pass


def test_the_longest_delay_is_taken(tmp_path: Path) -> None:
    with Nic(tmp_path / "nic.sock", *LOOPED, "--delay", "9999999999"):
        pass


def test_a_nic_has_one_wire(tmp_path: Path) -> None:
    for arguments in ((), ("--loop", "10.0.0.2", "--tap", "downbeat0")):
        with (
            pytest.raises(Refused, match="one wire: --tap NAME, --interface NAME, or, without root, --loop ADDRESS"),
            Nic(tmp_path / "nic.sock", "--preset", MODEL, *arguments),
        ):
            pass
    with (
        pytest.raises(Refused, match="interface none0"),
        Nic(tmp_path / "nic.sock", "--preset", MODEL, "--interface", "none0"),
    ):
        pass


@pytest.mark.parametrize("mode", ["660", "0600"])
def test_the_socket_has_the_mode_that_was_asked_for(tmp_path: Path, mode: str) -> None:
    with Nic(tmp_path / "nic.sock", *LOOPED, "--mode", mode) as nic:
        assert nic.socket.stat().st_mode & 0o7777 == int(mode, 8)
