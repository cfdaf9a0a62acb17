# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How connections end for programs that do not know, against what the kernel says of the same."""

from __future__ import annotations

import subprocess

import pytest

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import CORE, KERNEL, LIMIT, free_port, over_core, ports_free, script, serving

SILENT = 5099  # a port of the loopback model that acknowledges nothing
TELL = """
import errno, select, socket, sys
address, port = sys.argv[1], int(sys.argv[2])
NAMES = ("POLLIN", "POLLOUT", "POLLERR", "POLLHUP", "POLLRDHUP")
def comes(connection, events):
    poll = select.poll()
    poll.register(connection, events)
    return poll.poll(10000)[0][1]
def polled(connection):
    events = comes(connection, select.POLLIN | select.POLLOUT | select.POLLRDHUP)
    return "|".join(name for name in NAMES if events & getattr(select, name))
def name(error):
    return errno.errorcode.get(error, str(error))
def asked(connection):
    return name(connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
def tried(call, value):
    try:
        return str(call(value))
    except OSError as error:
        return name(error.errno)
def tell(connection):
    print(polled(connection), *(tried(connection.recv, 100) for each in range(3)), asked(connection))
    print(polled(connection), tried(connection.send, b"x"))
"""
LISTEN = """
listener = socket.create_server((address, port))
print("listening", flush=True)
"""
ACCEPT = """
connection, _ = listener.accept()
"""
CONNECT = """
connection = socket.create_connection((address, port))
"""
# A close with something unread resets (RFC 2525, section 2.17).
SPEAK_AND_RESET = """
connection.sendall(b"half a sen")
comes(connection, select.POLLIN)
connection.close()
"""
ASK = """
connection.sendall(b"a question")
comes(connection, 0)
"""
HEAR = """
comes(connection, select.POLLIN)
"""
END = """
comes(connection, 0)
tell(connection)
"""
TELL_ALL = "tell(connection)"
TELL_ERROR = """
print(tried(connection.recv, 100), asked(connection), asked(connection), tried(connection.recv, 100))
"""
# Without a supervisor SO_ERROR is ENOSYS.
TELL_READS = """
print(polled(connection), *(tried(connection.recv, 100) for each in range(3)))
"""
TELL_OTHER_CALLS = """
import os
print(tried(lambda count: os.read(connection.fileno(), count), 100))
print(tried(lambda count: os.readv(connection.fileno(), [bytearray(count)]), 100))
print(tried(lambda count: connection.recvmsg(count)[0], 100))
"""
SPEAK = """
connection.send(b"x")
"""
WAIT = """
tried(connection.recv, 100)
"""
KILL_THE_SUPERVISOR = """
import os, signal
os.kill(os.getppid(), signal.SIGKILL)
"""
CLOSE = """
connection.sendall(b"whole")
connection.shutdown(socket.SHUT_WR)
while connection.recv(100): pass
connection.close()
"""
HEAR_THE_END = """
comes(connection, select.POLLRDHUP)
print(polled(connection), tried(connection.recv, 100), tried(connection.recv, 100), asked(connection))
print(polled(connection))
"""


def _seen(address: str, port: int, wrap: list[str], accepts: str, connects: str, before: str = "") -> tuple[str, str]:
    """What both sides print; `before`: what the first does before it accepts."""
    arguments = (address, str(port))
    with serving([*wrap, *script(TELL + LISTEN + before + ACCEPT + accepts, *arguments)]) as server:
        connect = [*wrap, *script(TELL + CONNECT + connects, *arguments)]
        done = subprocess.run(connect, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, done.stderr
        assert server.stdout
        return server.stdout.read(), done.stdout


@pytest.mark.parametrize("by", ["accepted", "connected"])
@pytest.mark.parametrize("tell", [TELL_ALL, TELL_ERROR, TELL_OTHER_CALLS], ids=["recv", "SO_ERROR", "other calls"])
def test_a_reset_is_reported_once_behind_what_came_before(nic: Nic, by: str, tell: str) -> None:
    hear = HEAR + ASK + tell
    sides = (SPEAK_AND_RESET, hear) if by == "accepted" else (hear, SPEAK_AND_RESET)
    expected = _seen(KERNEL, free_port(), [], *sides)
    assert any("ECONNRESET" in text for text in expected)
    assert _seen(CORE, 5010, over_core(nic), *sides) == expected
    ports_free(nic)


@pytest.mark.parametrize("by", ["accepted", "connected"])
def test_an_orderly_end_is_no_error(nic: Nic, by: str) -> None:
    sides = (CLOSE, HEAR_THE_END) if by == "accepted" else (HEAR_THE_END, CLOSE)
    assert _seen(CORE, 5010, over_core(nic), *sides) == _seen(KERNEL, free_port(), [], *sides)
    ports_free(nic)


def test_a_time_out_is_etimedout(nic: Nic) -> None:
    """Its events and what follows are a reset's."""
    _, seen = _seen(CORE, SILENT, over_core(nic), WAIT, ASK + "tell(connection)")
    assert seen.split("\n")[:2] == [
        "POLLIN|POLLOUT|POLLERR|POLLHUP|POLLRDHUP ETIMEDOUT b'' b'' 0",
        "POLLIN|POLLOUT|POLLHUP|POLLRDHUP EPIPE",
    ]
    _, asked = _seen(CORE, SILENT, over_core(nic), WAIT, ASK + "print(asked(connection), tried(connection.recv, 100))")
    assert asked == "ETIMEDOUT b''\n"
    ports_free(nic)


@pytest.mark.parametrize("by", ["accepted", "connected"])
def test_the_supervisor_s_death_is_a_reset(nic: Nic, by: str) -> None:
    """Also for a program that has written nothing."""
    ends = KILL_THE_SUPERVISOR + "comes(connection, 0)" + TELL_READS
    sides = (HEAR + "connection.recv(1)" + ends, SPEAK + WAIT) if by == "accepted" else (WAIT, ends)
    seen = _seen(CORE, 5010, over_core(nic), *sides)
    assert "POLLIN|POLLOUT|POLLERR|POLLHUP|POLLRDHUP ECONNRESET b'' b''" in "".join(seen)
    ports_free(nic)


def test_a_reset_before_the_accept_is_reported_behind_it(nic: Nic) -> None:
    accepts = "import time\ncomes(listener, select.POLLIN)\ntime.sleep(0.5)\n"
    seen, _ = _seen(CORE, 5010, over_core(nic), END, KILL_THE_SUPERVISOR, before=accepts)
    assert seen.startswith("POLLIN|POLLOUT|POLLERR|POLLHUP|POLLRDHUP ECONNRESET b'' b'' 0\n")
    ports_free(nic)


def test_a_writer_that_never_blocks_may_go_on_with_a_byte_unread(nic: Nic) -> None:
    """A send queue that is almost full of one message, of the smallest that a program may ask for."""
    writes = """
connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
connection.setblocking(False)
left = 3000000
while left:
    comes(connection, select.POLLOUT)
    left -= connection.send(bytes(min(left, 200000)))
"""
    reads = """
count = 0
while part := connection.recv(100000):
    count += len(part)
print(count)
"""
    seen, _ = _seen(CORE, 5010, over_core(nic), reads, writes)
    assert seen == "3000000\n"
    ports_free(nic)
