# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A NIC process: several programs, their deaths, its own."""

from __future__ import annotations

import gc
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from downbeat_toe.driver import Connection, DriverError, Error, Listener
from downbeat_toe.driver.library import program
from downbeat_toe.driver.nic_status import connections, device

from sw.tests.driver.conftest import LOOPED, SELF, Host
from sw.tests.driver.process import Nic, preloaded

# Each look at the clock is 138 s after the last: 2,300 of them are 88 hours.
FAST_CLOCK = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
  static long looks;
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_MONOTONIC) time->tv_sec += 138 * (looks < 2300 ? looks++ : looks);
  return (int)result;
}
"""

STALL = 0.1  # s: one look at the NIC takes less
# Another program: it listens, connects to itself and to port 6000, says so, and waits for its death.
PROGRAM = f"""
import sys
from sw.tests.driver.conftest import SELF, Host
host = Host(sys.argv[1])
pair = host.pair(7000)
other = host.device.connect({SELF}, 6000)
host.until(lambda: other.info.state >= 3)
other.send(b"half a sen")
host.until(lambda: other.info.acknowledged == 10)
print("ready", flush=True)
while True:
    host.step()
"""


def _flows(nic: Nic) -> int:
    return sum(not each["let_go"] for each in connections(nic.socket))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_program_leaves_nothing(nic: Nic, number: signal.Signals, size: int) -> None:
    """Its connections are reset, its flows and listeners free within a second; the other's bytes are whole."""
    host = Host(nic.uri, size)
    with host.device:
        waiting = host.listening(6000)
        listener = host.listening(6001)
        out, peer = host.joined(listener, 6001)
        first, accepted = _other(host, nic, waiting)
        sent = os.urandom(host.size)
        got, at = b"", 0
        lived, last = 0.0, time.monotonic()  # seconds after the death in which the machine did not stall

        def through() -> bool:
            nonlocal got, at, lived, last
            now = time.monotonic()
            lived += min(now - last, STALL) if killed else 0
            last = now
            at += out.send(sent[at : at + 5000]) if at < len(sent) else 0
            got += peer.receive() or b""
            if first.poll() is None and len(got) > host.size // 2:
                first.send_signal(number)
                first.wait()
                killed.append(now)
            elif killed and not free and _flows(nic) <= 3:
                free.append(lived)
            return len(got) == len(sent) and bool(free)

        killed: list[float] = []
        free: list[float] = []
        host.until(through)
        assert got == sent
        host.until(lambda: accepted.info.state == 0)
        assert accepted.receive() == b"half a sen"
        assert accepted.info.error == Error.RESET
        assert free[0] < 1.0
        host.listening(7000)  # the dead program's
        assert host.device.statistics.errors == 0


def _established(connection: Connection) -> bool:
    return bool(connection.info.established)


def _other(host: Host, nic: Nic, listener: Listener) -> tuple[subprocess.Popen[str], Connection]:
    """The other program, and its connection to this one."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, nic.uri], stdout=subprocess.PIPE, text=True)
    accepted = host.accepted(listener)
    output = process.stdout
    assert output
    host.until(lambda: select.select([output], [], [], 0)[0])
    assert output.readline() == "ready\n"
    return process, accepted


def test_a_port_s_next_program_is_not_taken_for_the_last_one(nic: Nic) -> None:
    """A port that starts hears of its flows, whose requests have the numbers that the next program begins with."""
    server = Host(nic.uri)
    with server.device:
        listener = server.listening(6000)
        for _ in range(3):
            client = Host(nic.uri)
            assert not connections(nic.socket), "what the port had is no row, nor what all have let go of"
            out = client.device.connect(SELF, 6000)
            peer = server.accepted(listener)
            client.until(partial(_established, out))
            assert out.send(b"mine") == 4
            server.until(peer.peek)
            assert peer.receive() == b"mine"
            client.device.release()
            assert server.ended(peer) is Error.RESET
            peer.close()


def test_a_nic_that_goes_is_reported_and_can_be_opened_again(nic: Nic) -> None:
    host = Host(nic.uri)
    out, _ = host.pair()
    nic.stop(signal.SIGKILL)
    host.until(lambda: out.info.state == 0)
    assert out.info.error == Error.DEVICE_GONE
    with pytest.raises(DriverError, match="has gone: release it and open it again"):
        out.send(b"x")
    with pytest.raises(DriverError) as gone:
        host.device.poll()
    assert gone.value.code is Error.DEVICE_GONE
    host.device.release()
    nic.start()
    again = Host(nic.uri)
    with again.device:
        again.pair()


def test_what_was_given_up_is_not_ready_at_the_nic_s_end(nic: Nic) -> None:
    """A connection that was aborted before its flow was known: its name is free."""
    host = Host(nic.uri)
    with host.device:
        assert nic.process
        nic.process.send_signal(signal.SIGSTOP)
        kept, given_up = (host.device.connect(SELF, 7000) for _ in range(2))
        given_up.abort()
        nic.stop(signal.SIGKILL)
        host.until(lambda: host.ready)
        assert [each.connection for each in host.ready] == [kept]


LAST_WORDS = """
import os, signal, sys
from sw.tests.driver.conftest import SELF, Host
host = Host(sys.argv[1])
out = host.device.connect(SELF, 6000)
host.until(lambda: out.info.established)
os.kill(int(sys.argv[2]), signal.SIGSTOP)
assert out.send(b"last words") == 10 and out.shutdown()
out.close()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_program_closed_at_its_end_is_sent(nic: Nic) -> None:
    """The NIC finds its last doorbells and its end at once."""
    host = Host(nic.uri)
    with host.device:
        listener = host.listening(6000)
        assert nic.process
        with subprocess.Popen([sys.executable, "-c", LAST_WORDS, nic.uri, str(nic.process.pid)]) as program:
            program.wait()
            nic.process.send_signal(signal.SIGCONT)
        peer = host.accepted(listener)
        host.until(lambda: peer.info.peer_finished or peer.info.error)
        assert peer.info.error == Error.OK
        assert peer.receive() == b"last words" and peer.receive() == b""


def test_a_release_waits_for_what_was_asked(nic: Nic) -> None:
    """Though the NIC looks only some time later."""
    host = Host(nic.uri)
    host.pair()
    assert nic.process
    nic.process.send_signal(signal.SIGSTOP)
    later = threading.Timer(0.2, nic.process.send_signal, [signal.SIGCONT])
    begin = time.monotonic()
    later.start()
    host.device.release()
    assert time.monotonic() - begin >= 0.2
    assert not connections(nic.socket)


def test_a_doorbell_wakes_a_nic_that_sleeps(nic: Nic) -> None:
    """Otherwise each of the 20 waits for its 100 ms to end."""
    host = Host(nic.uri)
    with host.device:
        out, peer = host.pair()
        begin = time.monotonic()
        for _ in range(20):
            assert out.send(b"x") == 1
            host.until(lambda: peer.receive() == b"x")
        assert time.monotonic() - begin < 1


def test_a_nic_without_work_sleeps(nic: Nic) -> None:
    host = Host(nic.uri)
    with host.device:
        host.pair()
        while host.device.wait(0.1):
            pass
        assert nic.process
        used = [processor_seconds(nic.process.pid)]
        time.sleep(0.5)
        used.append(processor_seconds(nic.process.pid))
        assert used[1] - used[0] < 0.1


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_device_that_is_released_leaves_no_descriptor(nic: Nic) -> None:
    def descriptors() -> set[tuple[str, str]]:
        """Number and file of each, but that of the list itself."""
        return {(link.name, link.readlink().name) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()}

    with Host(nic.uri).device:
        pass
    gc.collect()  # earlier tests leave some
    before = descriptors()
    for _ in range(3):
        with Host(nic.uri).device:
            assert descriptors() - before
    assert not descriptors() - before


def test_no_doorbell_is_lost_where_the_nic_s_mailbox_is_full(nic: Nic) -> None:
    """Its 4,096 entries are too few for what a program does while the NIC stands still."""
    host = Host(nic.uri)
    with host.device:
        out, peer = host.pair()
        assert nic.process
        nic.process.send_signal(signal.SIGSTOP)
        later = threading.Timer(0.5, nic.process.send_signal, [signal.SIGCONT])
        later.start()
        sent = bytes(number % 251 for number in range(5000))
        for place in range(len(sent)):
            assert out.send(sent[place : place + 1]) == 1
        got = bytearray()

        def there() -> bool:
            got.extend(peer.receive() or b"")
            return len(got) == len(sent)

        host.until(there)
        assert got == sent


def test_a_nic_lives_on_when_its_time_wraps(tmp_path: Path) -> None:
    """Times of 64 bits in 2^-16 ns: after 39 hours their double does, after 78 they do."""
    with Nic(tmp_path / "nic.sock", *LOOPED, environment=preloaded(tmp_path, FAST_CLOCK)) as nic:
        host = Host(nic.uri)
        with host.device:
            waiting = host.listening(6000)
            out, peer = host.pair()
            for _ in range(6):
                for _ in range(200):
                    assert out.send(b"x") == 1
                    host.until(peer.peek)
                    assert peer.receive() == b"x"
                program, accepted = _other(host, nic, waiting)
                program.kill()
                program.wait()
                assert host.ended(accepted) is Error.RESET
                host.until(lambda: _flows(nic) == 3)
                accepted.close()
            assert device(nic.socket)["free_ports"] == 3


def test_signals_do_not_make_the_nic_gone(nic: Nic) -> None:
    """A call that a signal interrupts (EINTR) says nothing of the NIC."""
    signals = "import os, signal, sys\nwhile os.getppid() == int(sys.argv[1]): os.kill(os.getppid(), signal.SIGUSR1)"
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    host = Host(nic.uri)
    with host.device, subprocess.Popen([sys.executable, "-c", signals, str(os.getpid())]) as sender:
        try:
            out, _ = host.pair()
            end = time.monotonic() + 2
            while time.monotonic() < end:
                host.device.poll()
            assert out.send(b"x") == 1
        finally:
            sender.kill()
            sender.wait()
            signal.signal(signal.SIGUSR1, before)


def test_it_says_what_programs_get(tmp_path: Path) -> None:
    """At most the rate of the wire, 1 Gb/s; this model takes no time of its own."""
    rates = []
    for number in range(5):
        with Nic(tmp_path / str(number), *LOOPED) as nic:
            pattern = r"ready: 16 flows, 4 programs at once, about (\d+\.\d) Mb/s on this machine\n"
            found = re.fullmatch(pattern, nic.said)
            assert found, nic.said
            rates.append(float(found[1]))
    assert max(rates) == 1000 and min(rates) > 0


def test_options_come_in_any_order(tmp_path: Path) -> None:
    nic = Nic(tmp_path / "nic.sock")
    for order in (("--device", nic.uri, *LOOPED), (*LOOPED, "--device", nic.uri)):
        nic.command = [nic.command[0], *order]
        with nic:
            assert device(nic.socket)["free_ports"] == 4


def test_a_prefix_of_the_own_address_makes_the_netmask(tmp_path: Path) -> None:
    with Nic(tmp_path / "nic.sock", *LOOPED, "--ip", "10.0.0.1/28") as nic:
        found = device(nic.socket)
        assert (found["ip"], found["netmask"]) == (0x0A000001, 0xFFFFFFF0)


# The first line of the NIC, then the interfaces that are up.
READY = """
exec 3< <("$0" --device "simd:$1" --tap downbeat7 --preset loopback)
read -u 3 line && echo "$line" && ip -brief link show up
kill $!
"""


TAP = ("tuntap", "add", "downbeat7", "mode", "tap")
PAIR = ("link", "add", "downbeat-veth-7", "type", "veth", "peer", "name", "other")


def isolation(made: tuple[str, ...] = TAP) -> list[str]:
    """Before a command: it has a network of its own, where `ip` may make that."""
    isolated = ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*isolated, "ip", *made], check=False).returncode:
        pytest.skip(f"ip {' '.join(made)}: needs root, or a kernel that has it")
    return isolated


def test_the_interface_is_up_when_it_is_ready(tmp_path: Path) -> None:
    command = [*isolation(), "bash", "-c", READY, str(program("downbeat-nic")), str(tmp_path / "nic.sock")]
    said = subprocess.run(command, text=True, capture_output=True, check=False, timeout=60).stdout
    assert said.startswith("ready: ") and "downbeat7 " in said, said


# Seconds from a frame until the model sends it back (an EtherType for experiments).
ECHO = """
import socket, subprocess, sys, time
command = [sys.argv[1], "--device", f"simd:{sys.argv[2]}", "--tap", "downbeat7", "--preset", "loopback"]
with subprocess.Popen([*command, *sys.argv[3:]], stdout=subprocess.PIPE) as nic:
    nic.stdout.readline()
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
    wire.bind(("downbeat7", 0x88b5))
    wire.settimeout(5)
    for _ in range(5):
        begin = time.monotonic()
        wire.send(bytes(12) + bytes.fromhex("88b5") + bytes(46))
        wire.recv(2000)
        print(time.monotonic() - begin)
    nic.terminate()
"""


# A frame each way between a NIC and another end of its wire; the name is as long as one may be.
VETH = """
import socket, subprocess, sys
subprocess.run(["ip", *sys.argv[3:]], check=True)
subprocess.run(["ip", "link", "set", "other", "up"], check=True)
command = [sys.argv[1], "--device", f"simd:{sys.argv[2]}", "--interface", "downbeat-veth-7", "--preset", "loopback"]
with subprocess.Popen(command, stdout=subprocess.PIPE) as nic:
    nic.stdout.readline()
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
    wire.bind(("other", 0x88b5))
    wire.settimeout(5)
    wire.send(bytes.fromhex("02000000000188b5020088b5") + bytes.fromhex("88b5") + bytes(46))
    print(len(wire.recv(2000)))
    shown = subprocess.run(["ip", "-d", "link", "show", "downbeat-veth-7"], capture_output=True, text=True).stdout
    print("promiscuity 1" in shown)
    nic.terminate()
"""


def test_an_interface_of_the_machine_is_the_wire(tmp_path: Path) -> None:
    """It takes frames for other addresses too."""
    command = [*isolation(PAIR), sys.executable, "-c", VETH, str(program("downbeat-nic")), str(tmp_path / "nic.sock")]
    done = subprocess.run([*command, *PAIR], text=True, capture_output=True, check=True, timeout=60)
    assert done.stdout.split() == ["60", "True"], done


def test_a_delay_makes_the_path_towards_the_core_longer(tmp_path: Path) -> None:
    isolated = isolation()

    def seconds(*options: str) -> list[float]:
        command = [*isolated, sys.executable, "-c", ECHO, str(program("downbeat-nic")), str(tmp_path / "nic.sock")]
        done = subprocess.run([*command, *options], text=True, capture_output=True, check=True, timeout=60)
        return [float(line) for line in done.stdout.splitlines()]

    assert min(seconds()) < 0.1 <= min(seconds("--delay", str(10**8)))


def test_all_ports_taken(nic: Nic) -> None:
    hosts = [Host(nic.uri) for _ in range(4)]
    with pytest.raises(DriverError, match="all 4 ports are taken") as refused:
        Host(nic.uri)
    assert refused.value.code is Error.NO_PORT
    hosts[0].device.release()
    Host(nic.uri).device.release()
    for each in hosts[1:]:
        each.device.release()


def test_status_tells_connections_of_all_programs(nic: Nic) -> None:
    host = Host(nic.uri)
    with host.device:
        host.pair()
        rows = connections(nic.socket)
        assert [each["state"] for each in rows] == ["ESTABLISHED"] * 2
        assert {each["process"] for each in rows} == {os.getpid()}
        assert device(nic.socket)["free_ports"] == 3
    json.dumps(rows)
