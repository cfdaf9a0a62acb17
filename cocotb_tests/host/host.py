# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A computer with `DownbeatHost` in it: its memory, and for each port a program that keeps to the format."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from cocotb_tests.bench import clocks, until
from cocotb_tests.core.core import PEER_IP, Core, ip_number
from cocotb_tests.host.format import element, number, offset, pack_command, unpack_notification
from cocotb_tests.host.memory import PAYLOAD_BASE, RINGS_BASE, RINGS_BYTES, HostMemory
from cocotb_tests.memory.layout import RECEIVE, SEND
from cocotb_tests.registers.bus import Registers
from cocotb_tests.registers.set_up import set_up

Notification = dict[str, Any]


@dataclass
class HostConnection:
    """A connection as its program sees it: the newest status, and how far the program is."""

    port: HostPort
    status: Notification
    written: int = 0
    consumed: int = 0
    statuses: list[str] = field(default_factory=list)

    @property
    def flow(self) -> int:
        return int(self.status["flow"])

    @property
    def generation(self) -> int:
        return int(self.status["generation"])

    @property
    def received(self) -> int:
        """One past the last byte received."""
        return (int(self.status["received"]) - (int(self.status["flags"]) >> 1 & 1)) % 2**32

    def space(self, size: int) -> int:
        return size - (self.written - int(self.status["acknowledged"])) % 2**32

    async def send(self, data: bytes, *, urgent: bool = False) -> None:
        """Bytes into the ring, then the doorbell; the last byte may be urgent."""
        SEND.write(self.port.host.memory.payload, self.flow, self.written, data)
        self.written = (self.written + len(data)) % 2**32
        await self.port.ring("written", self.flow, self.generation, self.written, reserved=int(urgent))

    async def read(self, length: int) -> bytes:
        """Bytes out of the ring, then the doorbell."""
        memory = self.port.host.memory
        data = RECEIVE.read(memory.payload, self.flow, self.consumed, length)
        places = RECEIVE.addresses(self.flow, self.consumed, length)
        for place in places:
            if place % 8 == 7:
                memory.written_at.pop(PAYLOAD_BASE + place - 7, None)
        self.consumed = (self.consumed + length) % 2**32
        await self.port.ring("consumed", self.flow, self.generation, self.consumed)
        return data

    async def command(self, opcode: str, **fields: int) -> None:
        await self.port.command(opcode, flow=self.flow, generation=self.generation, **fields)


class HostPort:
    """A port's program: it writes commands, rings doorbells, and reads notifications by their phase."""

    def __init__(self, host: Host, index: int) -> None:
        self.host = host
        self.index = index
        quarter = RINGS_BYTES // 4
        self.commands_at = 2 * index * quarter
        self.notifications_at = (2 * index + 1) * quarter
        self.connections: dict[tuple[int, int], HostConnection] = {}
        self.others: deque[Notification] = deque()  # responses and errors
        self.reports: list[Notification] = []  # path reports
        self.stamps: list[Notification] = []

    def _set_up(self, name: str) -> int:
        block = number("firstPortBlock") + self.index * number("portBlockBytes")
        return number("setUpPage") * number("pageBytes") + block + offset("port", name)

    def _doorbell(self, name: str) -> int:
        return (number("firstDoorbellPage") + self.index) * number("pageBytes") + offset("doorbell", name)

    async def set(self, name: str, value: int) -> None:
        await self.host.registers.write_at(self._set_up(name), value.to_bytes(4, "little"))

    async def get(self, name: str) -> int:
        return await self.host.registers.read_at(self._set_up(name))

    async def write(self, name: str, value: int) -> None:
        """A register of the doorbell page."""
        await self.host.registers.write_at(self._doorbell(name), value.to_bytes(4, "little"))

    async def shown(self, name: str) -> int:
        return await self.host.registers.read_at(self._doorbell(name))

    async def start(self, *, commands: int = 3, notifications: int = 4, hold_off: int = 0) -> None:
        """Rings of 2^commands and 2^notifications entries; it runs when this returns."""
        assert await self.try_start(commands, notifications, hold_off) == 1

    async def try_start(self, commands: int, notifications: int, hold_off: int = 0) -> int:
        """Returns the port's status a little later."""
        self.command_size, self.notification_size = 1 << commands, 1 << notifications
        self.tail = self.head = self.seen = 0  # commands written; notifications read, and acknowledged as read
        size = min(number("notificationBytes") << notifications, RINGS_BYTES // 4)
        self.host.memory.rings.write(self.notifications_at, bytes(size))
        for name, at in (("command", self.commands_at), ("notification", self.notifications_at)):
            await self.set(f"{name}BaseLow", (RINGS_BASE + at) & 0xFFFFFFFF)
            await self.set(f"{name}BaseHigh", (RINGS_BASE + at) >> 32)
        await self.set("commandSizeLog2", commands)
        await self.set("notificationSizeLog2", notifications)
        await self.set("holdOff", hold_off)
        await self.set("control", 1)
        await clocks(self.host.dut, 40)
        return await self.get("status")

    async def stop(self) -> None:
        await self.set("control", 0)
        while await self.get("status") & 1:
            pass

    # ---- commands and doorbells

    async def post(self, *entries: bytes) -> None:
        """Entries into the ring, then the doorbell; the ring must have space."""
        for entry in entries:
            place = self.commands_at + self.tail % self.command_size * number("commandBytes")
            self.host.memory.rings.write(place, entry)
            self.tail = (self.tail + 1) % 2**32
        await self.write("commandTail", self.tail)

    async def command(self, opcode: str | int, **fields: int) -> None:
        await self.post(pack_command(opcode, **fields))

    async def open(self, port: int, *, request: int = 1, **fields: int) -> None:
        values = {"remoteIp": ip_number(PEER_IP), "initialWindow": 10, "ssthresh": 65536, **fields}
        await self.command("open", request=request, remotePort=port, **values)

    async def listen(self, port: int, *, request: int = 2) -> None:
        await self.command("listen", request=request, localPort=port, initialWindow=10, ssthresh=65536)

    async def ring(self, kind: str, flow: int, generation: int, sequence: int, *, reserved: int = 0) -> None:
        await self.write(f"{kind}Sequence", sequence)
        await self.write(f"{kind}Flow", reserved << 24 | generation << 16 | flow)

    async def acknowledge(self, *, arm: bool = False) -> None:
        """Tells how far the ring was read."""
        self.seen = self.head
        await self.write("notificationHeadArm" if arm else "notificationHead", self.head)

    # ---- notifications

    def poll(self) -> Notification | None:
        """The next notification, if it is there; its order and its place are checked."""
        index = self.head % self.notification_size
        size = number("notificationBytes")
        entry = bytes(self.host.memory.rings.read(self.notifications_at + index * size, size))
        wanted = 1 - self.head // self.notification_size % 2
        if entry[offset("notification", "phase")] != wanted:
            return None
        self.head = (self.head + 1) % 2**32
        notification = unpack_notification(entry)
        if notification["kind"] == "status":
            self._status(notification, self.host.memory.issued[RINGS_BASE + self.notifications_at + index * size])
        elif notification["kind"] == "pathReport":
            self.reports.append(notification)
        elif notification["kind"] == "stamp":
            self.stamps.append(notification)
        else:
            self.others.append(notification)
        return notification

    def _status(self, notification: Notification, issued: int) -> None:
        key = (notification["flow"], notification["generation"])
        if key not in self.connections:
            connection = HostConnection(
                self, notification, written=notification["written"], consumed=notification["consumed"]
            )
            self.connections[key] = connection
        connection = self.connections[key]
        if connection.status["state"] == "synSent":
            connection.consumed = notification["consumed"]
        connection.status = notification
        connection.statuses.append(notification["state"])
        self.host.check_order(connection, issued)

    async def take(self) -> Notification:
        """The next notification, waiting for it; every few, and when the ring is full, it tells how far it has read."""
        found: list[Notification] = []

        def there() -> bool:
            notification = self.poll()
            if notification is not None:
                found.append(notification)
            return bool(found)

        await until(self.host.dut, there, f"a notification of port {self.index}", 20_000)
        if self.head - self.seen >= self.notification_size // 2:
            await self.acknowledge()
        return found[0]

    async def response(self) -> Notification:
        """The next response or error."""
        while not self.others:
            await self.take()
        return self.others.popleft()

    async def connection(self, state: str, *, request: int | None = None) -> HostConnection:
        """One that has come to this state; without `request` any."""
        while True:
            for connection in self.connections.values():
                status = connection.status
                if status["state"] == state and request in (None, status["request"]):
                    return connection
            await self.take()

    def drain(self) -> None:
        while self.poll() is not None:
            pass


class Host:
    """The core, and what is around it."""

    def __init__(self, dut: Any, core: Core, registers: Registers, memory: HostMemory) -> None:
        self.dut = dut
        self.core = core
        self.registers = registers
        self.memory = memory
        self.ports = [HostPort(self, index) for index in range(2)]

    @classmethod
    async def create(cls, dut: Any, *, stall: float = 0.0) -> Host:
        """After the core's reset; the ports are not started."""
        registers = Registers(dut)
        memory = HostMemory(dut, stall=stall)
        core = await Core.begin(dut)
        host = cls(dut, core, registers, memory)
        page = number("setUpPage") * number("pageBytes")
        for name, word in (("payloadBaseLow", PAYLOAD_BASE & 0xFFFFFFFF), ("payloadBaseHigh", PAYLOAD_BASE >> 32)):
            await registers.write_at(page + offset("setUp", name), word.to_bytes(4, "little"))
        await set_up(registers)
        await until(dut, lambda: dut.core_reset.value == 0, "the core to leave reset")
        await core.idle()
        return host

    async def shown(self, name: str) -> int:
        page = number("setUpPage") * number("pageBytes")
        return await self.registers.read_at(page + offset("setUp", name))

    def check_order(self, connection: HostConnection, issued: int) -> None:
        """The bytes that the newest status reports were in memory when the notification was offered to the bus."""
        if connection.status["state"] in ("synSent", "closed"):
            return
        length = (connection.received - connection.consumed) % 2**32
        assert length <= RECEIVE.base, "more than was ever sent"
        for place in RECEIVE.addresses(connection.flow, connection.consumed, length):
            word = PAYLOAD_BASE + place - place % 8
            assert self.memory.written_at.get(word, issued) < issued, f"reported {place:#x} before it was in memory"


__all__ = ["Host", "HostConnection", "HostPort", "Notification", "element"]
