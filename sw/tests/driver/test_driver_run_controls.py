# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Linux's controls of a socket name the core's: policies, pace, TCP_INFO, TCP_NODELAY."""

from __future__ import annotations

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import ports_free
from sw.tests.driver.socket_programs import printed


def test_congestion_control_names_the_core_s_policies(nic: Nic) -> None:
    """Steady alone, or start-up and steady; before the connect, after it, and of a listener's connections."""
    text = """
def control(end, value=None):
    if value:
        return tried(end.setsockopt, IPPROTO_TCP, TCP_CONGESTION, value)
    return end.getsockopt(IPPROTO_TCP, TCP_CONGESTION, 64).rstrip(b"\\0").decode()
listener = socket()
print(control(listener, b"rapid+logistic"), control(listener), control(listener, b"rapid+none"), control(listener))
listener.bind((address, port))
listener.listen()
client = create_connection((address, port))
print(control(client), control(client, b"cubic"), control(client), control(client, b"none"), control(client))
"""
    assert printed(nic, text).split("\n")[:-1] == [
        "None rapid+logistic ENOENT rapid+logistic",
        "standard+reno None standard+cubic ENOENT standard+cubic",
    ]
    ports_free(nic)


def test_max_pacing_rate_is_the_connection_s_pace(nic: Nic) -> None:
    """The core takes 60 B/s at least; afterwards the pace stays."""
    text = """
def rate(end, value=None):
    if value:
        return tried(end.setsockopt, SOL_SOCKET, SO_MAX_PACING_RATE, value)
    return end.getsockopt(SOL_SOCKET, SO_MAX_PACING_RATE)
SO_MAX_PACING_RATE = 47
listener = create_server((address, port))
slow, client = socket(), socket()
print(rate(slow, 50), name(slow.connect_ex((address, port))), rate(slow))
print(rate(client, 1000000), rate(client), client.connect((address, port)), rate(client), rate(client, 5))
"""
    assert printed(nic, text) == "None EINVAL 50\nNone 1000000 None 1000000 ENOPROTOOPT\n"
    ports_free(nic)


def test_tcp_info_has_the_core_s_values(nic: Nic) -> None:
    text = """
import ctypes
listener, client, accepted = pair()
for _ in range(2):
    client.sendall(bytes(5000))
    received(accepted, 5000)
    time.sleep(0.1)  # until both are acknowledged, each by a report
accepted.sendall(bytes(70))
received(client, 70)
def info(end):
    return end.getsockopt(IPPROTO_TCP, TCP_INFO, 240)
def long(data, at):
    return struct.unpack_from("Q", data, at)[0]
for _ in range(100):
    if long(info(client), 120) == 10000: break
    time.sleep(0.02)
data = info(client)
print(data[0], long(data, 120), long(data, 128), long(data, 200), struct.unpack_from("II", data, 16))
print(struct.unpack_from("I", data, 24)[0], len(info(socket())) > 100, struct.unpack_from("II", data, 68))
print(long(data, 160) > 0)
"""
    segment = 1460  # and the model's path: 1 ms, and half of it
    assert printed(nic, text) == f"1 10000 70 10000 ({segment}, {segment})\n0 True (1000, 500)\nTrue\n"
    ports_free(nic)


def test_no_delay_holds_at_once_after_the_connect_too(nic: Nic) -> None:
    """Without it a small segment waits for the acknowledgment of those before, while the device does nothing."""
    assert nic.process
    text = f"""
import signal
def sent(end, wanted):
    for _ in range(60):
        if (count := struct.unpack_from("Q", end.getsockopt(IPPROTO_TCP, TCP_INFO, 240), 200)[0]) == wanted: break
        time.sleep(0.005)
    return count
listener, client, accepted = pair()
os.kill({nic.process.pid}, signal.SIGSTOP)
client.send(b"a")
print(sent(client, 1))
client.send(b"b")
print(sent(client, 2))
client.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
print(sent(client, 2))
client.send(b"c")
print(sent(client, 3))
os.kill({nic.process.pid}, signal.SIGCONT)
print(received(accepted, 3))
"""
    assert printed(nic, text).split() == ["1", "1", "2", "3", "b'abc'"]
    ports_free(nic)
