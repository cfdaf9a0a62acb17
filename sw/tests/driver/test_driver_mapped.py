# SPDX-License-Identifier: BSD-2-Clause-Patent
"""uio: and vfio: against a file that stands for the registers and one that stands for the memory; the test is the
core."""

from __future__ import annotations

import json
import mmap
import re
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from downbeat_toe.driver import Device, DriverError, Error, Options, State
from downbeat_toe.driver.library import program
from downbeat_toe.driver.structures import CItem
from downbeat_toe.structures import Parameters

from sw.tests.driver.conftest import ROOT

FLOWS, RING, PORT_BLOCK, DOORBELLS = 4, 1 << 12, 0x1100, 0x2000
PAYLOAD = 2 * FLOWS * RING
COMMANDS, NOTIFICATIONS = PAYLOAD, PAYLOAD + 256 * 128
OWN, PEER = 0x0A000001, 0x0A000002
ESTABLISHED = 3
URGENT = 4  # flag of a status
FLOW, GENERATION, ISS, PEER_ISS = 2, 7, 0xFFFFFFF0, 0x7FFFFFF0


def number(header: str, name: str) -> int:
    found = re.search(rf"#define {name} (\w+?)u?$", (ROOT / "sw/include" / header).read_text(), re.MULTILINE)
    assert found, name
    return int(found[1], 0)


CONTROL, STATUS = (number("downbeat_registers.h", f"DOWNBEAT_REG_{name}") for name in ("CONTROL", "STATUS"))
NEIGHBOUR_WAITS = number("downbeat_registers.h", "DOWNBEAT_REG_STATUS_NEIGHBOUR_WAITS_MASK")


class Core:
    """Registers and memory as files; starts a port when a program says so, and has done its commands."""

    notifications, entries = NOTIFICATIONS, 1024  # the ring that the program has made

    def __init__(self, directory: Path) -> None:
        self.registers = self._file(directory / "bar", 0x3000)
        self.words = memoryview(self.registers).cast("I")  # one store each: a driver reads beside it
        self.memory = self._file(directory / "memory", NOTIFICATIONS + 1024 * 64)
        self.uri = f"{directory / 'bar'}?memory={directory / 'memory'}"
        for name, value in (
            ("MAGIC", number("downbeat_registers.h", "DOWNBEAT_MAGIC")),
            ("VERSION", 0x000203),
            ("FLOWS", FLOWS),
            ("SEND_BUFFER_BYTES", RING),
            ("RECEIVE_BUFFER_BYTES", RING),
            ("LOCAL_IP", OWN),
        ):
            self.set(number("downbeat_registers.h", f"DOWNBEAT_REG_{name}"), value)
        self.set(0x1000, 1)
        self.set(0x1004, 1)
        self.set(0x1008, number("downbeat_host.h", "DOWNBEAT_HOST_FORMAT_HASH"))
        self.set(0x100C, number("downbeat_policies.h", "DOWNBEAT_POLICY_HASH"))
        self.tail = 0
        self.lag = 0.0  # seconds that it goes on for: with what is under way without a port, and when it is to stop
        self.refuses = False  # its port's rings
        self.cut = False  # it was stopped in the midst of that
        self.left = False  # on, by a program that was killed: it writes into its ring until it has stopped
        self.stands = False  # it does no commands
        self.neighbour_waits = False
        self.port_status: int | None = None  # in the place of its own
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @staticmethod
    def _file(path: Path, size: int) -> mmap.mmap:
        path.write_bytes(bytes(size))
        with path.open("r+b") as file:
            return mmap.mmap(file.fileno(), size)

    def _serve(self) -> None:
        port_was = core_was = 0.0
        while not self._stop.is_set():
            port, enabled, now = self.get(PORT_BLOCK) & 1, self.get(CONTROL) & 1, time.monotonic()
            port_was, core_was = now if port else port_was, now if enabled else core_was
            idle, running = now - port_was >= self.lag, enabled or now - core_was < self.lag
            self.cut |= not enabled and not idle
            status = 2 * port if self.refuses else port  # running as enabled
            self.set(PORT_BLOCK + 4, status if self.port_status is None else self.port_status)
            self.left &= bool(running)
            if self.left:
                self.memory[NOTIFICATIONS + 63] = 1
            self.set(STATUS, running | idle << 1 | self.neighbour_waits * NEIGHBOUR_WAITS)
            if not self.stands:
                self.set(DOORBELLS + 0x20, self.get(DOORBELLS + 0x10))  # every command is done
            time.sleep(0.001)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def get(self, address: int) -> int:
        return int(self.words[address // 4])

    def set(self, address: int, value: int) -> None:
        self.words[address // 4] = value

    def notify(self, kind: int, **fields: int) -> None:
        """A notification, its phase last."""
        places = {
            "reason": (1, "B"),
            "request": (2, "H"),
            "flow": (4, "H"),
            "generation": (6, "B"),
            "state": (7, "B"),
            "acknowledged": (8, "I"),
            "written": (12, "I"),
            "consumed": (16, "I"),
            "received": (20, "I"),
            "time": (16, "Q"),  # a stamp has it; its end and drops lie at `acknowledged` and `written`
            "urgent_end": (24, "I"),
            "flags": (28, "B"),
            "remote_ip": (32, "I"),
            "remote_port": (36, "H"),
            "local_port": (38, "H"),
            "command_head": (56, "I"),
        }
        at = self.notifications + 64 * (self.tail % self.entries)
        self.memory[at] = kind
        for name, value in fields.items():
            offset, code = places[name]
            struct.pack_into(f"<{code}", self.memory, at + offset, value)
        self.memory[at + 63] = 1 - self.tail // self.entries % 2
        self.tail += 1


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    made = Core(tmp_path)
    yield made
    made.stop()


def established(core: Core, **fields: int) -> None:
    common = {"acknowledged": ISS, "written": ISS, "consumed": PEER_ISS, "received": PEER_ISS}
    ends = {"remote_ip": PEER, "remote_port": 80, "local_port": 4000}
    named = {"flow": FLOW, "generation": GENERATION, "state": ESTABLISHED, "request": 1, "command_head": 1}
    core.notify(1, **(common | ends | named | fields))


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


def test_another_format_is_refused_with_both_named(core: Core) -> None:
    core.set(0x1004, 2)
    with pytest.raises(DriverError, match=r"host format 2/.*\(version 0\.2\.3\), this libdownbeat 1/") as refused:
        Device(f"uio:{core.uri}")
    assert refused.value.code is Error.WRONG_VERSION


def test_other_policies_go_by_number(core: Core) -> None:
    core.set(0x100C, 1)
    with Device(f"uio:{core.uri}") as device:
        with pytest.raises(DriverError, match="the core has others, use numbers"):
            device.connect(PEER, 80, options=Options(Parameters(b"cubic")))
        device.connect(PEER, 80, options=Options(Parameters(b"5", b"3")))
        assert core.memory[COMMANDS + 16 : COMMANDS + 18] == b"\5\3"


@pytest.mark.parametrize(
    ("uri", "code", "problem"),
    [
        ("uio:/dev/uio99", Error.NO_DEVICE, "/dev/uio99: no such device"),
        ("vfio:0000:ff:1f.7", Error.NO_DEVICE, "no such PCI device"),
        (f"uio:/dev/{'x' * 300}", Error.NO_DEVICE, "no such device .File name too long"),
        ("uart:/dev/none", Error.NO_DEVICE, "/dev/none: no serial device"),
        ("sim:none", Error.UNKNOWN_PRESET, "no simulated device 'none'"),
        ("usb:1", Error.NO_DEVICE, "'usb:1' names no device"),
    ],
)
def test_no_such_device(uri: str, code: Error, problem: str) -> None:
    with pytest.raises(DriverError, match=problem) as refused:
        Device(uri)
    assert refused.value.code is code


def test_what_answers_is_no_core(core: Core) -> None:
    core.set(0, 0xFFFFFFFF)
    with pytest.raises(DriverError, match="is not a Downbeat core: its first register is 0xffffffff"):
        Device(f"uio:{core.uri}")


def test_registers_that_end_before_the_host_half(tmp_path: Path, core: Core) -> None:
    """A core without one: the first page alone."""
    short = tmp_path / "short"
    short.write_bytes(core.registers[:0x1000])
    memory = core.uri.partition("?")[2]
    with pytest.raises(DriverError, match=r"the device's registers end at 4096 bytes: it has no host half") as refused:
        Device(f"uio:{short}?{memory}")
    assert refused.value.code is Error.NO_DEVICE


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


def test_memory_that_is_no_file(core: Core) -> None:
    with pytest.raises(DriverError, match="the kernel maps no memory") as refused:
        Device(f"uio:{core.uri.split('?')[0]}?memory=/dev/null")
    assert refused.value.code is Error.NO_DEVICE


@pytest.mark.parametrize("scheme", ["uio", "vfio"])
def test_a_second_program_is_refused(core: Core, scheme: str) -> None:
    """It would reset the first one's core."""
    with Device(f"{scheme}:{core.uri}"):
        core.set(PORT_BLOCK + 0x20, 99)  # holdOff, which an open writes
        with pytest.raises(DriverError, match="bar: it is open already") as refused:
            Device(f"{scheme}:{core.uri}")
        assert refused.value.code is Error.NO_PORT
        assert core.get(PORT_BLOCK + 0x20) == 99
    with Device(f"{scheme}:{core.uri}"):
        pass


def test_a_release_stops_the_core(core: Core) -> None:
    """Its closed connections would go on, in memory that is others' then. The resets of the open ones leave first."""
    with Device(f"uio:{core.uri}"):
        assert core.get(CONTROL) == 1
        core.lag = 0.03
        while core.get(STATUS) & 2:
            time.sleep(0.001)
    assert core.get(CONTROL) == 0
    assert core.get(STATUS) & 1 == 0
    assert not core.cut


def test_an_open_waits_for_a_core_that_was_left_on(core: Core) -> None:
    """What it wrote last is in memory before the rings are made."""
    core.lag, core.left = 0.03, True
    core.set(CONTROL, 1)
    core.set(PORT_BLOCK, 1)
    while not core.get(STATUS) & 1:
        time.sleep(0.001)
    with Device(f"uio:{core.uri}"):
        assert not core.left
        assert core.memory[NOTIFICATIONS + 63] == 0


def test_an_open_that_fails_stops_the_core(core: Core) -> None:
    core.refuses = True
    with pytest.raises(DriverError, match="port 0 does not start"):
        Device(f"uio:{core.uri}")
    assert core.get(CONTROL) == 0


def _seen(case: str, *arguments: str) -> str:
    """What sw/driver/test/mapped.cpp sees."""
    done = subprocess.run([program("test-mapped"), case, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_no_exception_leaves_the_c_interface() -> None:
    assert _seen("exceptions") == f"{Error.OUT_OF_RESOURCES} stoi\n"


def test_numbers_of_an_argument_lie_where_the_layout_says() -> None:
    """A number that is too large is the largest."""
    layout = json.loads((ROOT / "sw/python/downbeat_toe/downbeat_layout.json").read_text())
    policies = layout["arguments"]["StartupPolicy"]
    expected = [
        f"{policy} {name} {value << field['offset']:032x}"
        for policy in ("resume", "paced")
        for name, field in policies[policy]["fields"].items()
        for value in (1 << field["fraction"], (1 << field["width"]) - 1)
    ]
    assert _seen("arguments").splitlines() == expected


def test_an_interrupt_of_uio_is_taken_and_enabled_again(core: Core) -> None:
    """uio_read gives four bytes alone; a word enables, also at the open: it may have been left masked."""
    assert _seen("uio-interrupt", core.uri).splitlines() == ["word 1", "1 1 0", "word 1"]


def test_a_lost_interrupt_delays_by_less_than_a_second(core: Core) -> None:
    assert _seen("lost-interrupt", core.uri) == "1 0\n"


def test_an_interrupt_of_vfio_is_taken(core: Core) -> None:
    assert _seen("vfio-interrupt", core.uri) == "1 1 0\n"


@pytest.fixture
def pci(tmp_path: Path) -> str:
    """The name of a PCI device with an IOMMU group."""
    devices = Path("/sys/bus/pci/devices")
    if not devices.exists():
        pytest.skip("no PCI")
    (tmp_path / "iommu_group").symlink_to("7")
    return f"{'../' * len(devices.parts)}{tmp_path}"


def test_too_few_huge_pages_are_refused(pci: str) -> None:
    free = re.search(r"^HugePages_Free:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    if free and int(free[1]) >= 128:
        pytest.skip("there are enough")
    assert _seen("huge-pages", pci) == f"{Error.OUT_OF_RESOURCES} no huge pages: sysctl vm.nr_hugepages=128\n"


@pytest.mark.parametrize(
    ("case", "problem"),
    [("no-registers", "VFIO gives no BAR 0"), ("no-configuration", "VFIO lets the device reach no memory")],
)
def test_a_device_of_vfio_has_registers_and_a_configuration(pci: str, case: str, problem: str) -> None:
    assert _seen(case, pci) == f"{Error.NO_DEVICE} {pci}: {problem}\n"


def test_a_device_of_vfio_may_reach_memory(pci: str) -> None:
    """vfio-pci clears bus master at its open; what else is in the command register stays (here memory space)."""
    assert _seen("bus-master", pci) == "1 6\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [("FLOWS", 0), ("FLOWS", 0xFFFFFFFF), ("SEND_BUFFER_BYTES", 3000), ("RECEIVE_BUFFER_BYTES", 1 << 31)],
)
def test_sizes_that_no_core_has_are_refused(core: Core, name: str, value: int) -> None:
    core.set(number("downbeat_registers.h", f"DOWNBEAT_REG_{name}"), value)
    with pytest.raises(DriverError, match="no core has these sizes") as refused:
        Device(f"uio:{core.uri}")
    assert refused.value.code is Error.NO_DEVICE
