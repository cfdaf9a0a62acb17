# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core for Google's packetdrill, called as packetdrill calls it: by its table, from two threads, in virtual
time."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import shutil
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP

from sim.adversarial.packetdrill import foreign
from sim.lib import build

CALLS = (
    *("free", "socket", "bind", "listen", "accept", "connect", "read", "readv", "recv", "recvfrom", "recvmsg"),
    *("write", "writev", "send", "sendto", "sendmsg", "fcntl", "ioctl", "close", "shutdown", "getsockopt"),
    *("setsockopt", "poll", "netdev_send", "netdev_receive", "usleep", "gettimeofday"),
    *("epoll_create", "epoll_ctl", "epoll_wait", "pipe", "splice"),
)
CORE, PEER = "192.168.0.1", "192.0.2.1"
OPTIONS: list[tuple[str, Any]] = [("MSS", 1000)]


class Drill:
    """packetdrill's side of the table."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path), use_errno=True)
        self.table = (ctypes.c_void_p * (1 + len(CALLS)))()
        library.packetdrill_interface_init(b"seed=1", self.table)

    def __getattr__(self, name: str) -> Callable[..., int]:
        prototype = ctypes.CFUNCTYPE(ctypes.c_ssize_t if name in ("read", "write") else ctypes.c_int, use_errno=True)
        call = prototype(self.table[1 + CALLS.index(name)] or 0)
        return lambda *arguments: call(ctypes.c_void_p(self.table[0]), *arguments)

    def now(self) -> float:
        time = (ctypes.c_long * 2)()
        self.gettimeofday(time, None)
        return time[0] + time[1] / 1e6

    def sends(self, flags: str, seq: int, ack: int = 0, data: bytes = b"", **fields: Any) -> None:
        packet = bytes(
            IP(src=PEER, dst=CORE) / TCP(sport=4000, dport=8080, flags=flags, seq=seq, ack=ack, **fields) / data
        )
        self.netdev_send(packet, ctypes.c_size_t(len(packet)))

    def sniffs(self) -> TCP:
        packet, length, at = ctypes.create_string_buffer(2048), ctypes.c_size_t(2048), ctypes.c_longlong()
        self.netdev_receive(packet, ctypes.byref(length), ctypes.byref(at))
        return IP(packet.raw[: length.value])[TCP]


def address(port: int) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(CORE))


@pytest.fixture(scope="module")
def path() -> Path:
    return build.packetdrill() / foreign.OBJECT


@pytest.fixture
def drill(path: Path) -> Iterator[Drill]:
    made = Drill(path)
    yield made
    made.free()


def accepted(drill: Drill) -> tuple[int, int]:
    """A connection's descriptor, and the core's next sequence number."""
    listener = drill.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    assert drill.bind(listener, address(8080), 16) == 0 and drill.listen(listener, 1) == 0
    drill.sends("S", 0, options=OPTIONS)
    reply = drill.sniffs()
    assert reply.flags == "SA" and reply.ack == 1
    drill.sends("A", 1, reply.seq + 1, window=60000)
    return drill.accept(listener, None, None), reply.seq + 1


def test_data_go_both_ways_and_the_clock_moves_when_it_is_read(drill: Drill) -> None:
    connection, seq = accepted(drill)
    os.fstat(connection)  # a descriptor of the system too
    assert drill.write(connection, b"a" * 2000, ctypes.c_size_t(2000)) == 2000
    assert [len(drill.sniffs().payload) for _ in range(2)] == [1000, 1000]
    drill.sends("PA", 1, seq + 2000, b"hello", window=60000)
    place = ctypes.create_string_buffer(100)
    assert drill.read(connection, place, ctypes.c_size_t(100)) == 5 and place.value == b"hello"
    before = drill.now()
    assert drill.now() > before
    drill.usleep(250_000)
    assert 0.25 <= drill.now() - before < 0.26


def test_a_read_that_blocks_returns_when_data_have_come(drill: Drill) -> None:
    connection, seq = accepted(drill)
    place, done = ctypes.create_string_buffer(1000), []

    def read() -> None:
        count = drill.read(connection, place, ctypes.c_size_t(1000))
        done.append((count, drill.now()))

    begun = drill.now()
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    drill.usleep(200_000)
    drill.sends("PA", 1, seq, b"x" * 700, window=60000)
    reader.join(30)  # it needs no more time than the segment's; the ACK leaves 40 ms later
    assert drill.sniffs().ack == 701
    ((count, at),) = done
    assert count == 700 and 0.2 <= at - begun < 0.21


def test_what_was_peeked_at_is_read_later(drill: Drill) -> None:
    connection, seq = accepted(drill)
    drill.sends("PA", 1, seq, b"peeked", window=60000)

    def receive(length: int, flags: int) -> bytes:
        place = ctypes.create_string_buffer(length)
        count = drill.recv(connection, place, ctypes.c_size_t(length), flags)
        return place.raw[:count]

    assert receive(4, socket.MSG_PEEK) == b"peek"
    assert receive(10, socket.MSG_PEEK) == b"peeked"
    assert receive(2, 0) == b"pe"
    assert receive(10, 0) == b"eked"
    place = ctypes.create_string_buffer(1)
    assert drill.recv(connection, place, ctypes.c_size_t(1), socket.MSG_PEEK | socket.MSG_DONTWAIT) == -1
    assert ctypes.get_errno() == errno.EAGAIN


@pytest.mark.parametrize("how", [socket.SHUT_RD, socket.SHUT_RDWR])
def test_after_a_shutdown_of_reading_what_has_come_is_read_and_then_the_end(drill: Drill, how: int) -> None:
    connection, seq = accepted(drill)
    drill.sends("PA", 1, seq, b"last", window=60000)
    assert drill.shutdown(connection, how) == 0
    place = ctypes.create_string_buffer(10)
    assert drill.read(connection, place, ctypes.c_size_t(10)) == 4 and place.value == b"last"
    reader = threading.Thread(target=lambda: ends.append(drill.read(connection, place, ctypes.c_size_t(10))))
    ends: list[int] = []
    reader.daemon = True
    reader.start()
    reader.join(10)
    assert ends == [0]


def test_poll_waits_in_virtual_time_and_an_abort_is_an_error(drill: Drill) -> None:
    connection, _ = accepted(drill)
    descriptor = struct.pack("=ihh", connection, select.POLLIN, 0)
    fds, ended = ctypes.create_string_buffer(descriptor, len(descriptor)), []

    def poll() -> None:
        begun = drill.now()
        count = drill.poll(fds, ctypes.c_ulong(1), 300)
        ended.append((count, drill.now() - begun))

    poller = threading.Thread(target=poll, daemon=True)
    poller.start()
    steps = 0
    while poller.is_alive() and steps < 300:  # the thread may begin late
        drill.usleep(100_000)
        poller.join(0.1)
        steps += 1
    ((count, waited),) = ended
    assert count == 0 and 0.3 <= waited < 0.71
    drill.sends("R", 1)
    place = ctypes.create_string_buffer(10)
    assert drill.read(connection, place, ctypes.c_size_t(10)) == -1 and ctypes.get_errno() == 104  # ECONNRESET


def test_a_script_that_does_not_end_is_stopped_with_an_error(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "packetdrill"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("SCRIPT", "endless.pkt")
    monkeypatch.setattr(foreign, "LIMIT", 0.2)
    monkeypatch.setattr(build, "packetdrill", lambda: path.parent)
    assert foreign.main() == 1
    assert "endless.pkt: stopped" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("packetdrill") is None, reason="packetdrill is not on the PATH")
def test_packetdrill_runs_a_script(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "open.pkt"
    script.write_text(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
        "+0 < S 0:0(0) win 32792 <mss 1000,nop,wscale 7>\n+0 > S. 0:0(0) ack 1 <...>\n"
        "+.1 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n"
        "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n+0 %{ assert tcpi_snd_mss == 1000 }%\n"
    )
    monkeypatch.setenv("SCRIPT", str(script))
    assert foreign.main() == 0
