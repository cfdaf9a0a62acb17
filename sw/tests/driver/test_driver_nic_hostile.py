# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A NIC process and one of its programs that writes where it likes."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from downbeat_toe.driver import DriverError, Error
from downbeat_toe.driver.nic_status import CONNECTIONS, connections, device
from downbeat_toe.refused import Refused

from sw.tests.driver.conftest import LOOPED, MODEL, SELF, Host
from sw.tests.driver.process import Nic, preloaded
from sw.tests.driver.raw_client import (
    COMMAND_HEAD,
    COMMAND_TAIL,
    ENTRIES,
    HEAD,
    HEAD_WANTED,
    NOTIFICATION,
    NOTIFICATIONS,
    TAIL,
    RawClient,
    requested,
)

LISTEN, UNLISTEN, STATUS, RESPONSE, ESTABLISHED = 2, 3, 1, 2, 3
NO_DOORBELL = 0x1FFC  # beyond the page: it rings nothing

# The queue of each connection of the NIC is as short as the kernel has them: some rows of a listing.
SHORT_QUEUES = """
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
int accept4(int listening, struct sockaddr *name, socklen_t *length, int flags) {
  const int made = (int)syscall(SYS_accept4, listening, name, length, flags), bytes = 1;
  setsockopt(made, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return made;
}
"""


def test_nobody_can_change_the_size_of_the_shared_memory(nic: Nic) -> None:
    """The NIC and its other programs would end by SIGBUS."""
    host = Host(nic.uri)
    with host.device, RawClient(nic.socket) as bad:
        for file in bad.files:
            size = os.fstat(file).st_size
            for wrong in (0, size - 1, size + 1):
                with pytest.raises(PermissionError):
                    os.ftruncate(file, wrong)
            with pytest.raises(PermissionError):
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        host.pair()


def test_a_program_that_does_not_read_holds_up_nobody(nic: Nic) -> None:
    """Whatever it has in common with the NIC may wait, and it asks for more interrupts than a queue takes."""
    with RawClient(nic.socket) as bad:
        for file in (*bad.files, bad.line.fileno()):
            fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) & ~os.O_NONBLOCK)
        for _ in range(1000):
            bad.set(HEAD_WANTED, 1)
            bad.wake()
            while bad.get(HEAD_WANTED):
                pass
        assert device(nic.socket)["free_ports"] == 3


def test_a_nic_that_stands_still_holds_up_no_program(nic: Nic) -> None:
    """Its queue of wake-ups is full long before the mailbox."""
    host = Host(nic.uri)
    with host.device:
        assert nic.process
        nic.process.send_signal(signal.SIGSTOP)
        try:
            for _ in range(1000):
                host.device.connect(SELF, 7000).abort()
        finally:
            nic.process.send_signal(signal.SIGCONT)
        host.pair()


def test_ports_take_turns(nic: Nic) -> None:
    """The first port has a thousand doorbells in its mailbox; the second has one, and is served before."""
    with RawClient(nic.socket) as greedy, RawClient(nic.socket) as modest:
        assert nic.process
        nic.process.send_signal(signal.SIGSTOP)
        for _ in range(1000):
            greedy.put(NO_DOORBELL, 0)
        for each in (greedy, modest):
            struct.pack_into("<BBH10xH", each.memory, each.commands, LISTEN, 0, 9, 6000)
            each.put(COMMAND_TAIL, 1)
            each.wake()
        nic.process.send_signal(signal.SIGCONT)
        reasons = []
        for each in (modest, greedy):
            while not each.memory[each.notifications + NOTIFICATION - 1]:
                pass
            kind, reason, request = struct.unpack_from("<BBH", each.memory, each.notifications)
            assert (kind, request) == (RESPONSE, 9)
            reasons.append(reason)
        assert reasons == [0, 7]  # none, addressInUse


def test_a_tail_that_cannot_be_ends_its_program(nic: Nic) -> None:
    with RawClient(nic.socket) as bad:
        bad.set(TAIL, bad.get(HEAD) + ENTRIES + 1)
        bad.wake()
        assert bad.line.recv(1) == b""
    assert device(nic.socket)["free_ports"] == 4


def test_the_nic_keeps_its_own_count_of_the_mailbox(nic: Nic) -> None:
    """A program that writes the NIC's head makes it forget nothing, and read nothing twice."""
    with RawClient(nic.socket) as bad:
        struct.pack_into("<BBH10xH", bad.memory, bad.commands, LISTEN, 0, 1, 6000)
        bad.put(COMMAND_TAIL, 1)
        bad.set(HEAD, 77)
        bad.wake()
        while bad.get(HEAD) != 1:
            pass
        assert device(nic.socket)["listening"] == [6000]


def _invent(bad: RawClient, count: int) -> None:
    """Statuses of flows, each of another."""
    for entry in range(count):
        at = bad.notifications + entry * NOTIFICATION
        struct.pack_into("<B3xHBB", bad.memory, at, STATUS, entry, 0, ESTABLISHED)
        struct.pack_into("<I", bad.memory, at + COMMAND_HEAD, 1)  # after its first command
        bad.memory[at + NOTIFICATION - 1] = 1


def test_a_flow_beyond_the_core_s_is_no_connection(nic: Nic) -> None:
    with RawClient(nic.socket) as bad:
        _invent(bad, NOTIFICATIONS)
        assert [each["flow"] for each in connections(nic.socket)] == list(range(bad.geometry["flows"]))
    assert device(nic.socket)["free_ports"] == 4


def test_a_reader_of_the_connections_may_be_slow(tmp_path: Path) -> None:
    """Others are served meanwhile, and it gets each row in the end."""
    with (
        Nic(tmp_path / "nic.sock", *LOOPED, environment=preloaded(tmp_path, SHORT_QUEUES)) as nic,
        RawClient(nic.socket) as first,
        RawClient(nic.socket) as second,
    ):
        flows = first.geometry["flows"]
        for each in (first, second):
            _invent(each, flows)
        with requested(nic.socket, CONNECTIONS) as slow:
            for _ in range(20):
                assert device(nic.socket)["free_ports"] == 2
            rows = []
            while message := slow.recv(1 << 16):
                rows.append(json.loads(message))
        assert [(each["port"], each["flow"]) for each in rows] == [
            (port, flow) for port in (0, 1) for flow in range(flows)
        ]


LEAVES_A_CHILD = """
import os, sys, time
from sw.tests.driver.conftest import Host
host = Host(sys.argv[1])
host.listening(7000)
child = os.fork()
if child == 0:
    time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""


def test_a_killed_program_s_child_does_not_keep_its_port(nic: Nic) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LEAVES_A_CHILD, nic.uri], stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout
        child = int(program.stdout.readline())
        try:
            program.kill()
            program.wait()
            host = Host(nic.uri)
            with host.device:
                host.until(lambda: device(nic.socket)["free_ports"] == 3)
                host.listening(7000)
        finally:
            os.kill(child, signal.SIGKILL)


def test_an_abstract_name_is_refused(tmp_path: Path) -> None:
    """It has no mode, and anybody may take it."""
    with (
        pytest.raises(Refused, match="simd:@nic: an abstract name has no owner and no mode"),
        Nic(Path("@nic"), *LOOPED),
    ):
        pass
    with pytest.raises(DriverError, match="simd:@nic: an abstract name has no owner") as refused:
        Host("simd:@nic")
    assert refused.value.code is Error.INVALID_ARGUMENT


def test_a_long_name_of_a_preset_is_given_whole(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*("d" * 200 for _ in range(4)))
    deep.mkdir(parents=True)
    library = shutil.copy(Path(os.environ["DOWNBEAT_MODELS"]) / f"libdownbeat_host_{MODEL}.so", deep)
    with Nic(tmp_path / "nic.sock", "--loop", "10.0.0.2", "--preset", str(library)) as nic:
        assert device(nic.socket)["preset"] == str(library)
