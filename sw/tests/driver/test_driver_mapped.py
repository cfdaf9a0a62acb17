# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Connections by uio: and vfio:; the test is the core."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable

import pytest
from downbeat_toe.driver import Device, DriverError, Error, Options, State
from downbeat_toe.driver.structures import CItem
from downbeat_toe.structures import Parameters

from sw.tests.driver.mapped_core import (
    COMMANDS,
    DOORBELLS,
    ESTABLISHED,
    FLOW,
    FLOWS,
    GENERATION,
    ISS,
    NEIGHBOUR_WAITS,
    NOTIFICATIONS,
    OWN,
    PAYLOAD,
    PEER,
    PEER_ISS,
    PORT_BLOCK,
    RING,
    STATUS,
    URGENT,
    Core,
    established,
    number,
)


@pytest.mark.parametrize("scheme", ["uio", "vfio"])
def test_a_connection_by_the_format(core: Core, scheme: str) -> None:
    with Device(f"{scheme}:{core.uri}") as device:
        assert (device.info.ip, device.info.flows) == (OWN, FLOWS)
        assert (device.info.major, device.info.minor, device.info.patch) == (0, 2, 3)
        block = [core.get(PORT_BLOCK + offset) for offset in range(8, 0x20, 4)]
        assert block == [COMMANDS, 0, 8, NOTIFICATIONS, 0, 10]

        parameters = Parameters(initial_window=4, no_delay=1, reno_recovery=1, keep_alive=9, time_to_live=33)
        options = Options(parameters, rate=1_000_000_000)
        connection = device.connect(PEER, 80, 4000, options)
        assert core.get(DOORBELLS + 0x10) == 1
        entry = core.memory[COMMANDS : COMMANDS + 128]
        head = struct.unpack_from("<BBHHBBIHHBBHI", entry)
        assert head == (1, 9, 1, 0, 0, 0, PEER, 80, 4000, 0, 0, 4, 1 << 30)  # noDelay and renoRecovery
        assert struct.unpack_from("<QHHBB", entry, 56) == (8 << 32, 9, 0, 0, 33)  # 8 ns a byte
        assert not any(entry[70:])

        established(core)
        device.poll()
        assert connection.info.state == ESTABLISHED and connection.info.flow == FLOW
        assert core.get(DOORBELLS + 0x18) == 1  # read, and armed

        sent = bytes(range(40))
        assert connection.send(sent) == 40
        ring = core.memory[FLOW * RING : (FLOW + 1) * RING]
        assert bytes(ring[(ISS + i) % RING] for i in range(40)) == sent
        assert core.get(DOORBELLS) == (ISS + 40) % (1 << 32)
        assert core.get(DOORBELLS + 4) == FLOW | GENERATION << 16

        base = PAYLOAD // 2 + FLOW * RING
        for i in range(32):  # wraps at 2^31
            core.memory[base + (PEER_ISS + i) % RING] = 100 + i
        established(core, acknowledged=(ISS + 40) % (1 << 32), written=(ISS + 40) % (1 << 32), received=PEER_ISS + 32)
        device.poll()
        assert connection.receive() == bytes(range(100, 132)) and connection.info.acknowledged == 40
        assert core.get(DOORBELLS + 8) == PEER_ISS + 32
    assert core.get(PORT_BLOCK) == 0  # stopped
    abort = struct.unpack_from("<BBHHB", core.memory, COMMANDS + 128)
    assert abort == (6, 0, 0, FLOW, GENERATION)


def test_the_number_of_a_fin_is_no_byte(core: Core) -> None:
    """Both FINs are acknowledged: 40 bytes were sent, and 32 are there to read."""
    with Device(f"uio:{core.uri}") as device:
        connection = device.connect(PEER, 80)
        established(core)
        device.poll()
        assert connection.send(bytes(40)) == 40 and connection.shutdown()
        end = (ISS + 40) % (1 << 32)
        established(core, acknowledged=end + 1, written=end, received=PEER_ISS + 33, flags=2, command_head=2)
        device.poll()
        info = connection.info
        assert info.peer_finished and (info.sent, info.acknowledged, info.consumed) == (40, 40, 0)
        assert len(connection.receive() or b"") == 32 and connection.receive() == b""
        assert connection.info.consumed == 32 and core.get(DOORBELLS + 8) == PEER_ISS + 32


def _stop_port(core: Core) -> None:
    core.port_status = 4  # the memory refused an access to a ring


def _stand(core: Core) -> None:
    core.stands = True


def _poll_for_ever(device: Device) -> None:
    while True:
        device.poll()
        time.sleep(0.01)


def _remove(core: Core) -> None:
    core.stop()
    core.registers[:] = bytes([0xFF]) * len(core.registers)


@pytest.mark.parametrize("fault", [_remove, _stop_port, _stand])
def test_a_device_that_works_no_more_has_gone(core: Core, fault: Callable[[Core], None]) -> None:
    """Its registers read all ones, its port has stopped, or it does no more commands."""
    device = Device(f"uio:{core.uri}")
    connection, listener = device.connect(PEER, 80, 4000), device.listen(81)
    established(core)
    device.poll()
    assert connection.info.state == ESTABLISHED
    while core.get(DOORBELLS + 0x20) != 2:
        time.sleep(0.001)
    fault(core)
    connection.shutdown()
    begin = time.monotonic()
    with pytest.raises(DriverError) as gone:
        _poll_for_ever(device)
    assert gone.value.code is Error.DEVICE_GONE and time.monotonic() - begin < 5
    assert connection.info.error == Error.DEVICE_GONE
    for call in (connection.receive, lambda: device.connect(PEER, 80), lambda: device.listen(82), listener.accept):
        with pytest.raises(DriverError) as refused:
            call()
        assert refused.value.code is Error.DEVICE_GONE
    core.port_status = None
    device.release()


def test_a_device_with_slow_commands_has_not_gone(core: Core) -> None:
    """One each 0.3 s, where a second without one is the end."""
    core.stands = True
    with Device(f"uio:{core.uri}") as device:
        for _ in range(6):
            device.connect(PEER, 80)
        for done in range(1, 7):
            core.set(DOORBELLS + 0x20, done)
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                device.poll()
                time.sleep(0.01)
        core.stands = False


def test_a_memory_error_is_no_abort(core: Core) -> None:
    """Nobody on this side has ended the connection."""
    with Device(f"uio:{core.uri}") as device:
        connection = device.connect(PEER, 80, 4000)
        established(core)
        established(core, state=0, reason=8)
        device.poll()
        assert connection.info.error == Error.MEMORY_ERROR
        with pytest.raises(DriverError, match="the device's memory refused an access"):
            connection.receive()


def test_other_policies_go_by_number(core: Core) -> None:
    core.set(0x100C, 1)
    with Device(f"uio:{core.uri}") as device:
        with pytest.raises(DriverError, match="the core has others, use numbers"):
            device.connect(PEER, 80, options=Options(Parameters(b"cubic")))
        device.connect(PEER, 80, options=Options(Parameters(b"5", b"3")))
        assert core.memory[COMMANDS + 16 : COMMANDS + 18] == b"\5\3"


def test_a_connection_without_parameters_has_the_defaults(core: Core) -> None:
    """An initial window of 10 (RFC 6928), no pacing, no keep-alive, and the core's own TTL."""
    with Device(f"uio:{core.uri}") as device:
        device.connect(PEER, 80)
        while core.get(DOORBELLS + 0x10) != 1:
            time.sleep(0.001)
        assert struct.unpack_from("<H", core.memory, COMMANDS + 18) == (10,)
        assert struct.unpack_from("<QHHBB", core.memory, COMMANDS + 56) == (0, 0, 0, 0, 0)


def test_an_item_has_its_connection_s_context_once_it_is_set(core: Core) -> None:
    with Device(f"uio:{core.uri}") as device:
        raw = (CItem * 4)()
        connection = device.connect(PEER, 80)
        for state, context in ((2, None), (ESTABLISHED, 0x1234)):
            if context:
                device.library.downbeat_set_context(connection._handle, context)
            established(core, state=state)
            assert device.library.downbeat_poll(device._device, raw, 4) == 1
            assert raw[0].connection and raw[0].context == context


def test_stamps_begin_with_the_connection_and_count_what_was_dropped(core: Core) -> None:
    """Not with its handshake, and a segment of another connection of the flow is none of its own."""
    with Device(f"uio:{core.uri}") as device:
        connection = device.connect(PEER, 80)
        connection.keep_stamps()
        assert core.get(DOORBELLS + 0x10) == 1, "it has no flow whose stamps could be asked for"

        def stamp(bytes_sent: int, generation: int = GENERATION, dropped: int = 0) -> None:
            end = (ISS + bytes_sent) % (1 << 32)
            core.notify(5, flow=FLOW, generation=generation, acknowledged=end, written=dropped, time=bytes_sent << 16)

        established(core, state=2)  # SYN-SENT
        stamp(0)
        device.poll()
        assert connection.stamps() == ([], 0)
        established(core)
        stamp(10)
        stamp(20, generation=GENERATION + 1)
        stamp(30, dropped=4)
        device.poll()
        taken, dropped = connection.stamps()
        assert [(each.time >> 16, each.bytes, each.received) for each in taken] == [(10, 10, 0), (30, 30, 0)]
        assert dropped == 4


def test_urgent_data_ends_behind_what_is_read(core: Core) -> None:
    """Bytes up to its end, of which some may not have come."""
    with Device(f"uio:{core.uri}") as device:
        connection = device.connect(PEER, 80)
        established(core)
        established(core, received=PEER_ISS + 3, urgent_end=PEER_ISS + 5, flags=URGENT)
        device.poll()
        assert connection.info.urgent_left == 5
        connection.consume(2)
        assert connection.info.urgent_left == 3
        established(core, received=PEER_ISS + 8, consumed=PEER_ISS + 2)
        device.poll()
        connection.consume(6)
        assert connection.info.urgent_left == 0


def test_a_static_neighbour_waits_until_the_core_takes_it(core: Core) -> None:
    names = ("NEIGHBOUR_IP", "NEIGHBOUR_HIGH", "NEIGHBOUR_MAC_LOW")
    places = [number("downbeat_registers.h", f"DOWNBEAT_REG_{name}") for name in names]
    with Device(f"uio:{core.uri}") as device:
        device.add_neighbour(PEER, bytes.fromhex("021122334455"))
        assert [core.get(place) for place in places] == [PEER, 0x0211, 0x22334455]
        core.neighbour_waits = True
        while not core.get(STATUS) & NEIGHBOUR_WAITS:
            time.sleep(0.001)
        later = threading.Timer(0.1, setattr, (core, "neighbour_waits", False))
        later.start()
        device.add_neighbour(PEER + 1, bytes.fromhex("021122334456"))
        assert not core.neighbour_waits and core.get(places[0]) == PEER + 1
        core.neighbour_waits = True
        while not core.get(STATUS) & NEIGHBOUR_WAITS:
            time.sleep(0.001)
        with pytest.raises(DriverError, match="the core takes no static neighbour") as refused:
            device.add_neighbour(PEER, bytes(6))
        assert refused.value.code is Error.OUT_OF_RESOURCES and core.get(places[0]) == PEER + 1


def test_each_state_has_its_name(core: Core) -> None:
    """RFC 9293, 3.3.2; another number has none."""
    with Device(f"uio:{core.uri}") as device:
        texts = [device.library.downbeat_state_text(number).decode() for number in range(-1, len(State) + 1)]
    assert texts == ["unknown", *[state.name.replace("_", "-") for state in State], "unknown"]
