# SPDX-License-Identifier: BSD-2-Clause-Patent
"""sw/bare against files that stand for registers and memory, as `uio:` in test_driver_mapped.py: the test is the core."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from collections.abc import Iterator
from ctypes import POINTER, byref, c_bool, c_int, c_int32, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe.driver import Error

from sw.tests.driver.conftest import ROOT
from sw.tests.driver.mapped_core import (
    COMMANDS,
    DOORBELLS,
    ESTABLISHED,
    FLOW,
    GENERATION,
    ISS,
    OWN,
    PAYLOAD,
    PEER,
    PEER_ISS,
    PORT_BLOCK,
    RING,
    Core,
    established,
)

CLOSED, LISTENER = 0, 81
STATUS, RESPONSE, ERROR = 1, 2, 3  # kinds of a notification
OPEN, LISTEN, SHUTDOWN, CLOSE, ABORT = 1, 2, 4, 5, 6


class Options(ctypes.Structure):
    _fields_ = [
        ("registers", c_void_p),
        ("memory", c_void_p),
        ("bytes", c_size_t),
        ("bus_address", c_uint64),
        ("mac", c_uint8 * 6),
        *((name, c_uint32) for name in ("ip", "netmask", "gateway")),
        ("secret", c_uint32 * 4),
    ]


class Connection(ctypes.Structure):
    _fields_ = [
        *(
            (name, c_bool)
            for name in ("used", "known", "established", "peer_finished", "shut_down", "ended", "dropped", "waits")
        ),
        *((name, c_uint8) for name in ("state", "generation")),
        *((name, c_uint16) for name in ("flow", "request", "remote_port", "local_port")),
        *((name, c_uint32) for name in ("remote_ip", "done", "written", "acknowledged", "consumed", "received")),
        ("error", c_int),
    ]


class Bare:
    """The library's calls on one device."""

    def __init__(self, library: ctypes.CDLL, core: Core) -> None:
        self._library, self._device, self.core = library, ctypes.create_string_buffer(4096), core

    def begin(self, **changed: Any) -> int:
        place = [ctypes.addressof(c_uint8.from_buffer(file)) for file in (self.core.registers, self.core.memory)]
        fields = {"registers": place[0], "memory": place[1], "bytes": PAYLOAD + 8192, "bus_address": 3 * PAYLOAD}
        options = Options(**fields | {"ip": OWN, "mac": (2, 3, 4, 5, 6, 7), "secret": (1, 2, 3, 4)} | changed)
        return self("begin", byref(options))

    def __call__(self, name: str, *arguments: Any) -> int:
        return int(getattr(self._library, f"downbeat_bare_{name}")(self._device, *arguments))

    def connect(self, port: int = 80, startup: int = 0, steady: int = 0) -> tuple[int, Any]:
        made = POINTER(Connection)()
        return self("connect", PEER, port, 4000, startup, steady, byref(made)), made

    def accept(self) -> tuple[int, Any]:
        made = POINTER(Connection)()
        return self("accept", LISTENER, byref(made)), made

    def receive(self, connection: Any, capacity: int = 1 << 12) -> int | bytes:
        data = ctypes.create_string_buffer(capacity)
        given = self("receive", connection, data, capacity)
        return data.raw[:given] if given > 0 else given

    def command(self, index: int) -> tuple[int, ...]:
        """opcode, request, flow, generation, IP, remote port, local port"""
        return struct.unpack_from("<BxHHBxIHH", self.core.memory, COMMANDS + 128 * (index % 32))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Without any header or function of an operating system."""
    made = tmp_path_factory.mktemp("bare") / "bare.so"
    sources = sorted((ROOT / "sw/bare").glob("*.c"))
    flags = ["-std=c11", "-O1", "-g", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    flags += ["-shared", "-fPIC", "-Wl,--no-undefined", f"-I{ROOT / 'sw/include'}"]
    subprocess.run(["gcc", *flags, *sources, "-o", made], check=True)
    loaded = ctypes.CDLL(str(made))
    for name in ("send", "receive"):
        getattr(loaded, f"downbeat_bare_{name}").restype = c_int32
    return loaded


@pytest.fixture
def bare(library: ctypes.CDLL, tmp_path: Path) -> Iterator[Bare]:
    core = Core(tmp_path)
    core.notifications, core.entries = PAYLOAD + 4096, 64
    yield Bare(library, core)
    core.stop()


@pytest.fixture
def begun(bare: Bare) -> Bare:
    assert bare.begin() == Error.OK
    return bare


def test_the_core_is_set_up_and_its_port_starts(bare: Bare) -> None:
    assert bare.begin(gateway=0x0A0000FE) == Error.OK
    core = bare.core
    assert [core.get(0xA0), core.get(0xA4), core.get(0xA8), core.get(0xC0)] == [0x0203, 0x04050607, OWN, 0x0A0000FE]
    assert [core.get(0xAC + 4 * i) for i in range(4)] == [4, 3, 2, 1]
    block = [core.get(PORT_BLOCK + offset) for offset in range(8, 0x20, 4)]
    assert block == [4 * PAYLOAD, 0, 5, 4 * PAYLOAD + 4096, 0, 6] and core.get(0x1010) == 3 * PAYLOAD


@pytest.mark.parametrize(
    ("address", "value", "code"), [(0, 0xFFFFFFFF, Error.NO_DEVICE), (0x1008, 1, Error.WRONG_VERSION)]
)
def test_another_core_is_refused(bare: Bare, address: int, value: int, code: Error) -> None:
    bare.core.set(address, value)
    assert bare.begin() == code


@pytest.mark.parametrize("wrong", [{"bytes": PAYLOAD + 8191}, {"bus_address": PAYLOAD + 4096}])
def test_memory_that_is_too_small_or_lies_wrong_is_refused(bare: Bare, wrong: dict[str, int]) -> None:
    assert bare.begin(**wrong) == Error.INVALID_ARGUMENT


def test_a_port_that_does_not_start_is_reported(bare: Bare) -> None:
    bare.core.refuses = True
    assert bare.begin() == Error.NO_PORT


def test_a_connection_by_the_format(begun: Bare) -> None:
    error, connection = begun.connect(startup=11, steady=3)
    assert error == Error.OK and begun.core.get(DOORBELLS + 0x10) == 1
    assert begun.command(0) == (OPEN, 1, 0, 0, PEER, 80, 4000)
    entry = begun.core.memory[COMMANDS : COMMANDS + 128]
    assert struct.unpack_from("<BBHI", entry, 16) == (11, 3, 10, 1 << 30) and not any(entry[24:])
    assert begun("send", connection, b"early", 5) == Error.WOULD_BLOCK

    established(begun.core)
    assert begun("poll") == Error.OK and connection[0].state == ESTABLISHED
    assert begun.core.get(DOORBELLS + 0x14) == 1
    sent = bytes(range(40))
    assert begun("send", connection, sent, 40) == 40
    ring = begun.core.memory[FLOW * RING : (FLOW + 1) * RING]
    assert bytes(ring[(ISS + i) % RING] for i in range(40)) == sent  # it wraps at 2^32
    assert begun.core.get(DOORBELLS) == (ISS + 40) % (1 << 32)
    assert begun.core.get(DOORBELLS + 4) == FLOW | GENERATION << 16

    base = PAYLOAD // 2 + FLOW * RING
    for i in range(32):  # wraps in the ring
        begun.core.memory[base + (PEER_ISS + i) % RING] = 100 + i
    established(begun.core, acknowledged=(ISS + 40) % (1 << 32), written=(ISS + 40) % (1 << 32), received=PEER_ISS + 32)
    begun("poll")
    assert begun.receive(connection, 20) == bytes(range(100, 120))
    assert begun.receive(connection) == bytes(range(120, 132)) and begun.receive(connection) == Error.WOULD_BLOCK
    assert begun.core.get(DOORBELLS + 8) == PEER_ISS + 32

    # The peer's FIN takes a number and no byte; after ours the flow is given back.
    established(begun.core, received=PEER_ISS + 33, flags=2)
    begun("poll")
    assert begun.receive(connection) == 0
    assert begun("shutdown", connection) == Error.OK and begun.command(1)[::2][:2] == (SHUTDOWN, FLOW)
    assert begun("send", connection, b"late", 4) == Error.SHUT_DOWN
    assert begun("close", connection) == Error.OK and begun.command(2)[:4] == (CLOSE, 0, FLOW, GENERATION)
    established(begun.core, state=CLOSED, reason=1)
    begun("poll")
    assert begun.core.get(DOORBELLS + 0x10) == 3, "what is under way of it is ignored"


def test_a_full_send_ring_takes_what_has_space(begun: Bare) -> None:
    _, connection = begun.connect()
    established(begun.core)
    begun("poll")
    assert begun("send", connection, bytes(RING + 1), RING + 1) == RING
    assert begun("send", connection, b"x", 1) == Error.WOULD_BLOCK
    established(begun.core, acknowledged=(ISS + 3) % (1 << 32))
    begun("poll")
    assert begun("send", connection, bytes(9), 9) == 3


@pytest.mark.parametrize(
    ("reason", "code"), [(2, Error.REFUSED), (4, Error.TIMED_OUT), (9, Error.UNREACHABLE), (99, Error.ABORTED)]
)
def test_a_connection_that_fails_says_why(begun: Bare, reason: int, code: Error) -> None:
    _, connection = begun.connect()
    established(begun.core, state=CLOSED, reason=reason)
    begun("poll")
    assert connection[0].ended and connection[0].error == begun.receive(connection) == code
    assert begun("send", connection, b"x", 1) == code


def test_an_absent_policy_is_refused(begun: Bare) -> None:
    _, connection = begun.connect(startup=1)
    begun.core.notify(RESPONSE, request=1, reason=10, command_head=1)
    begun("poll")
    assert connection[0].error == Error.UNKNOWN_POLICY
    assert begun("close", connection) == Error.OK and begun.core.get(DOORBELLS + 0x10) == 1, "it has no flow"


def test_a_listener_gives_what_connects(begun: Bare) -> None:
    assert begun("listen", 0) == Error.INVALID_ARGUMENT
    assert begun("listen", LISTENER) == Error.OK and begun("listen", LISTENER) == Error.ADDRESS_IN_USE
    assert begun.command(0) == (LISTEN, 1, 0, 0, 0, 0, LISTENER)
    assert begun.accept()[0] == Error.WOULD_BLOCK
    begun.core.notify(RESPONSE, request=1, command_head=1)
    passive = {"flags": 1, "local_port": LISTENER, "request": 0}
    established(begun.core, state=2, **passive)  # SYN-RECEIVED is reported again
    begun("poll")
    assert begun.accept()[0] == Error.WOULD_BLOCK
    established(begun.core, **passive)
    begun("poll")
    error, connection = begun.accept()
    assert error == Error.OK and connection[0].remote_ip == PEER and begun("send", connection, b"hi", 2) == 2


def test_a_listener_that_the_core_refuses_says_why(begun: Bare) -> None:
    begun("listen", LISTENER)
    begun.core.notify(RESPONSE, request=1, reason=7, command_head=1)
    begun("poll")
    assert begun.accept()[0] == Error.ADDRESS_IN_USE


def test_a_connection_without_a_place_is_reset(begun: Bare) -> None:
    """Eight are the table's size."""
    made = [begun.connect()[0] for _ in range(9)]
    assert made == [*[Error.OK] * 8, Error.OUT_OF_RESOURCES]
    begun("listen", LISTENER)
    established(begun.core, flags=1, local_port=LISTENER, request=0)
    begun("poll")
    assert begun.command(9)[:4] == (ABORT, 0, FLOW, GENERATION)


def test_one_that_is_dropped_before_it_has_a_flow_is_reset_then(begun: Bare) -> None:
    _, connection = begun.connect()
    assert begun("close", connection) == Error.OK and begun.core.get(DOORBELLS + 0x10) == 1
    established(begun.core)
    begun("poll")
    assert begun.command(1)[:4] == (ABORT, 0, FLOW, GENERATION) and not connection[0].used


def test_a_full_command_ring_blocks_and_goes_on(begun: Bare) -> None:
    begun.core.stands = True
    _, connection = begun.connect()
    established(begun.core)
    begun("poll")
    for _ in range(32):  # beside the open, which is done
        assert begun("shutdown", connection) == Error.OK
        connection[0].shut_down = False
    begun.core.set(DOORBELLS + 0x20, 1)
    assert begun("shutdown", connection) == Error.WOULD_BLOCK
    begun.core.set(DOORBELLS + 0x20, 2)
    assert begun("shutdown", connection) == Error.OK and begun.command(33)[0] == SHUTDOWN


def test_notifications_go_on_after_the_rings_end(begun: Bare) -> None:
    _, connection = begun.connect()
    for i in range(3 * 64):
        established(begun.core, received=PEER_ISS + i)
        begun("poll")
        assert connection[0].received == PEER_ISS + i
    assert begun.core.get(DOORBELLS + 0x14) == 3 * 64


def test_a_refused_command_is_counted_and_ends_its_connection(begun: Bare) -> None:
    _, connection = begun.connect()
    begun.core.notify(ERROR, request=1, reason=3, state=0, command_head=1)
    begun("poll")
    assert connection[0].error == Error.INVALID_ARGUMENT


def test_a_port_that_stops_is_reported(begun: Bare) -> None:
    begun.core.port_status = 4
    begun.core.set(PORT_BLOCK + 4, 4)
    assert begun("poll") == Error.DEVICE_GONE
