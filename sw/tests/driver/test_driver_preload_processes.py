# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Processes and users of `downbeat run`: the program, its daemons, those who may ask its pump."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import ASK, CORE, ECHO, LIMIT, over_core, ports_free, script, serving

NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def test_exit_codes_are_the_programs(nic: Nic) -> None:
    for command, code in ((("true",), 0), (("sh", "-c", "exit 7"), 7), (("none-such",), 127)):
        assert subprocess.run(over_core(nic, *command), stderr=subprocess.DEVNULL, check=False).returncode == code
    killed = subprocess.run(over_core(nic, "sh", "-c", "kill -9 $$"), check=False)
    assert killed.returncode == -signal.SIGKILL
    ports_free(nic)


def test_a_daemon_keeps_its_sockets(nic: Nic) -> None:
    """The program forks and ends; its child serves on."""
    daemon = """
import os, socket, sys
listener = socket.create_server((sys.argv[1], 5008))
if os.fork():
    os._exit(0)
os.setsid()
connection, _ = listener.accept()
listener.close()
connection.sendall(b"from the child")
"""
    assert subprocess.run(over_core(nic, *script(daemon, CORE)), timeout=LIMIT, check=False).returncode == 0
    ask = f"import socket\nprint(socket.create_connection(('{CORE}', 5008)).recv(100))"
    done = subprocess.run(over_core(nic, *script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'from the child'\n", done.stderr
    ports_free(nic)


def test_a_daemon_may_open_its_sockets_late(nic: Nic) -> None:
    """After the program has ended."""
    daemon = """
import os, socket, sys, time
if os.fork():
    os._exit(0)
os.setsid()
time.sleep(0.7)
connection, _ = socket.create_server((sys.argv[1], 5009)).accept()
connection.sendall(b"late")
"""
    quiet = subprocess.DEVNULL
    command = over_core(nic, *script(daemon, CORE))
    assert subprocess.run(command, timeout=LIMIT, stdout=quiet, stderr=quiet, check=False).returncode == 0
    ask = f"""
import socket, time
while (asks := socket.socket()).connect_ex(("{CORE}", 5009)):
    time.sleep(0.05)
print(asks.recv(100))
"""
    done = subprocess.run(over_core(nic, *script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "b'late'\n", done.stderr
    ports_free(nic)


def _pump(program: subprocess.Popen[str]) -> str:
    """The abstract name of its control socket, which every user of the machine sees."""
    environment = Path(f"/proc/{program.pid}/environ").read_bytes().split(b"\0")
    found = next(each for each in environment if each.startswith(b"DOWNBEAT_RUN="))
    return "\0" + found.split(b"=")[1].split()[0].decode()


def _asks(nic: Nic) -> None:
    done = subprocess.run(
        over_core(nic, *script(ASK, CORE)), capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.stdout.strip() == str([True] * 6), done.stderr


@contextlib.contextmanager
def _another_user() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_silent_peer_stops_nobody(nic: Nic) -> None:
    """It is sent away after some time."""
    with (
        serving(over_core(nic, *script(ECHO, CORE))) as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent,
    ):
        silent.connect(_pump(server))
        _asks(nic)
        silent.settimeout(LIMIT)
        assert silent.recv(1) == b""
        _asks(nic)
    ports_free(nic)


def _is_turned_away(other: socket.socket, says: bytes) -> None:
    """It gets nothing but the end, whether its words were taken or not."""
    with contextlib.suppress(BrokenPipeError):
        other.send(says)
    with contextlib.suppress(ConnectionResetError):
        assert other.recv(100) == b""


@as_root
def test_another_user_asks_for_nothing(nic: Nic) -> None:
    connect = struct.pack("<IIHxxIHxx5I", 1, 0x0A000001, 5007, 0, 0, 0, 0, 0, 0, 0)
    with (
        serving(over_core(nic, *script(ECHO, CORE))) as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking,
    ):
        asking.settimeout(LIMIT)
        name = _pump(server)
        with _another_user():
            asking.connect(name)
        _is_turned_away(asking, connect)
        _asks(nic)
    ports_free(nic)


@as_root
def test_another_user_does_not_come_past_the_pump(nic: Nic) -> None:
    """The listener's local socket has an abstract name, and what connects to it could give any address for its own."""
    with serving(over_core(nic, *script(ECHO, CORE))):
        names = Path("/proc/net/unix").read_text()
        name = next(line.split("@")[1] for line in names.splitlines() if "@downbeat/l/0a000001/138f/" in line)
        with socket.socket(socket.AF_UNIX) as intruder:
            intruder.settimeout(LIMIT)
            intruder.bind("\0downbeat/c/0a000002/1234/0a000001/138f/ffffffff")
            with _another_user():
                intruder.connect("\0" + name)
            _is_turned_away(intruder, b"echo")
        _asks(nic)
    ports_free(nic)


@as_root
def test_a_server_that_gives_up_root_keeps_its_connections(nic: Nic) -> None:
    text = f"""
import os, socket, sys
listener = socket.create_server((sys.argv[1], 5009))
os.setuid({NOBODY})
print("listening", flush=True)
connection, peer = listener.accept()
assert connection.getpeername() == peer
connection.sendall(connection.recv(100))
"""
    with serving(over_core(nic, *script(text, CORE))):
        ask = f"import socket\ns = socket.create_connection(('{CORE}', 5009))\ns.sendall(b'still')\nprint(s.recv(9))"
        done = subprocess.run(over_core(nic, *script(ask)), capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.stdout == "b'still'\n", done.stderr
    ports_free(nic)
