# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A fork of a program that has a device: the device stays its parent's."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable

import pytest
from downbeat_toe.driver import Connection, DriverError, Error, Listener
from downbeat_toe.driver.nic_status import device
from downbeat_toe.structures import Parameters

from sw.tests.driver.conftest import SELF, Host
from sw.tests.driver.process import Nic


def _in_a_child(call: Callable[[], object]) -> int:
    """The exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            call()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _calls(host: Host, out: Connection, listener: Listener) -> list[Callable[[], object]]:
    opened = host.device
    return [
        opened.poll,
        lambda: opened.connect(SELF, 5001),
        lambda: opened.listen(5002),
        lambda: listener.ready,
        listener.accept,
        listener.close,
        lambda: out.send(b"child"),
        out.receive,
        out.reserve,
        lambda: out.commit(1),
        out.peek,
        lambda: out.consume(1),
        lambda: out.info,
        lambda: out.estimate,
        lambda: out.set_policies(Parameters()),
        lambda: out.start(Parameters()),
        out.shutdown,
        out.close,
        out.abort,
        opened.counters,
        opened.log,
        lambda: opened.add_neighbour(SELF, bytes(6)),
        lambda: opened.set_addresses(SELF, 0, 0, bytes(6)),
        lambda: opened.advance(0),
        lambda: opened.put_frame(bytes(60), 0),
        opened.get_frame,
    ]


def test_each_call_of_a_child_is_refused(host: Host) -> None:
    """Also while a thread of the parent is in a call with its locks."""
    listener = host.listening(5001)
    out, peer = host.joined(listener, 5001)
    stop = threading.Event()

    def poll() -> None:
        while not stop.is_set():
            host.ready += host.device.poll()

    def refused() -> None:
        for call in _calls(host, out, listener):
            with pytest.raises(DriverError, match="a fork of the one that opened the device: open it here") as error:
                call()
            assert error.value.code is Error.NOT_SUPPORTED
        assert host.device.descriptor == -1
        host.device.release()

    busy = threading.Thread(target=poll)
    busy.start()
    try:
        assert [_in_a_child(refused) for _ in range(8)] == [0] * 8
    finally:
        stop.set()
        busy.join()
    assert out.send(b"parent") == 6
    host.until(peer.peek)
    assert peer.receive() == b"parent"


def test_a_child_s_end_leaves_the_parent_s_connections(host: Host) -> None:
    """As a child of multiprocessing ends: by the block of the device."""
    out, peer = host.pair()

    def leave() -> None:
        with host.device:
            sys.exit(7)

    assert _in_a_child(leave) == 7
    assert out.send(b"after") == 5
    host.until(peer.peek)
    assert (peer.receive(), out.info.error, peer.info.error) == (b"after", Error.OK, Error.OK)


def test_a_release_gives_the_port_back_beside_a_child(nic: Nic) -> None:
    """The child has a copy of each descriptor."""
    host = Host(nic.uri)
    host.pair()
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    try:
        host.device.release()
        assert device(nic.socket)["free_ports"] == 4
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_child_may_open_a_device_of_its_own(nic: Nic) -> None:
    host = Host(nic.uri)
    with host.device:

        def talk() -> None:
            own = Host(nic.uri)
            with own.device:
                out, peer = own.pair(5005)
                assert out.send(b"child") == 5
                own.until(peer.peek)

        assert _in_a_child(talk) == 0
        host.pair(5005)
