# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Calls of Linux over the core: each program prints over the kernel and over the core the same."""

from __future__ import annotations

import pytest

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import ports_free
from sw.tests.driver.socket_programs import PROGRAMS, printed, sides


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_are_those_of_linux(nic: Nic, program: str) -> None:
    said = sides(nic, program)
    assert said[0][0] == 0, said[0][2]
    assert said[1] == said[0]
    ports_free(nic)


def test_the_core_refuses_what_it_cannot_do(nic: Nic) -> None:
    """With the errors of a Linux that lacks it."""
    text = """
listener, client, accepted = pair()
print([tried(client.setsockopt, IPPROTO_TCP, each, 1) for each in (2, 14, 19, 30, 32, 38, 39, 40, 41, 42)])
print(tried(socket().sendto, b"fast", 0x20000000, (address, port)), tried(socket, AF_INET, SOCK_STREAM, 262))
import ctypes
ctypes.set_errno(0)
print(ctypes.CDLL(None, use_errno=True).syscall(425, 1, None), name(ctypes.get_errno()))
"""
    assert printed(nic, text).split("\n")[:-1] == [
        str(["ENOPROTOOPT"] * 10),
        "ENOTSUP EPROTONOSUPPORT",
        "-1 ENOSYS",
    ]
    ports_free(nic)


def test_a_connect_ends_after_its_time_and_goes_on(nic: Nic) -> None:
    """The device does nothing for a while."""
    assert nic.process
    text = f"""
import signal
listener = create_server((address, port))
client = socket()
client.setsockopt(SOL_SOCKET, SO_SNDTIMEO, times(0.3))
os.kill({nic.process.pid}, signal.SIGSTOP)
begin = time.monotonic()
print(name(client.connect_ex((address, port))), 0.25 < time.monotonic() - begin < 2, name(client.connect_ex((address, port))))
os.kill({nic.process.pid}, signal.SIGCONT)
print(listener.accept()[1] == client.getsockname())
"""
    assert printed(nic, text) == "EINPROGRESS True EALREADY\nTrue\n"
    ports_free(nic)


def test_a_connect_ends_though_its_descriptor_is_closed(nic: Nic) -> None:
    """As in the kernel the call itself keeps the socket."""
    assert nic.process
    text = f"""
import signal
listener = create_server((address, port))
client, ended = socket(), []
os.kill({nic.process.pid}, signal.SIGSTOP)
thread = threading.Thread(target=lambda: ended.append(client.connect_ex((address, port))))
thread.start()
time.sleep(0.2)
os.close(client.fileno())
time.sleep(0.2)
os.kill({nic.process.pid}, signal.SIGCONT)
thread.join()
print(ended, client.detach() > 0, listener.accept()[0].recv(1))
"""
    assert printed(nic, text) == "[0] True b''\n"
    ports_free(nic)


def test_a_connect_that_a_signal_ends_lets_go_of_its_port(nic: Nic) -> None:
    assert nic.process
    text = f"""
import ctypes, signal
signal.signal(signal.SIGALRM, lambda number, frame: None)
signal.siginterrupt(signal.SIGALRM, True)
target = struct.pack("=H", AF_INET) + struct.pack("!H", port) + inet_aton(address) + bytes(8)
first, second = socket(), socket()
first.bind((address, port + 1))
os.kill({nic.process.pid}, signal.SIGSTOP)
signal.setitimer(signal.ITIMER_REAL, 0.1)
print(ctypes.CDLL(None).connect(first.fileno(), target, 16))
first.close()
print(tried(second.bind, (address, port + 1)))
os.kill({nic.process.pid}, signal.SIGCONT)
"""
    assert printed(nic, text) == "-1\nNone\n"
    ports_free(nic)


def test_the_end_of_the_nic(nic: Nic) -> None:
    """Connections are reset; calls that wait and new ones find the network down."""
    assert nic.process
    text = f"""
listener, client, accepted = pair()
client.setblocking(False)
waiting = threading.Thread(target=lambda: print(tried(listener.accept)))
waiting.start()
os.kill({nic.process.pid}, signal.SIGKILL)
select.select([client], [], [])
waiting.join()
print(tried(client.recv, 1), name(socket().connect_ex((address, port))), tried(create_server, (address, port + 1)))
print(tried(listener.accept))
"""
    assert printed(nic, text) == "ENETDOWN\nECONNRESET ENETDOWN ENETDOWN\nENETDOWN\n"
