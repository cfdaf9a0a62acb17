# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The memory of the rings behind the bus of `HostInterface`: gives commands, takes notifications, and judges addresses,
shapes, and that the ports have turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from cocotb_tests.host.format import number
from cocotb_tests.host.notices import Moment, Notices
from sim.golden.host.ports import MASK

BEAT = 8  # bytes
RING = 0x10_0000  # bytes of address from one ring to the next


def base(port: int, ring: str) -> int:
    return 0xFFF0_0000_0000 + (2 * port + (ring == "notification")) * RING


class Turn:
    """The bus gives the ports turns: the port of the last access, its clock, and since when each port has wanted."""

    def __init__(self, ports: int) -> None:
        self._port, self._clock = -1, 0
        self._wanting: list[int | None] = [None] * ports

    def want(self, clock: int, wants: Sequence[bool]) -> None:
        self._wanting = [
            (clock if since is None else since) if want else None
            for since, want in zip(self._wanting, wants, strict=True)
        ]

    def take(self, clock: int, port: int, what: str) -> None:
        others = [since for each, since in enumerate(self._wanting) if each != port and since is not None]
        late = self._port == port and any(since < self._clock for since in others)
        assert not late, f"{what} of port {port} again, and another waits"
        self._port, self._clock = port, clock


@dataclass
class Read:
    """A command that is being read."""

    port: int
    entry: bytes
    refused: bool
    beats: int = 0


@dataclass
class Write:
    """A notification that is being written. `past`: the moments at one of which it was made."""

    port: int
    past: list[Moment]
    entry: bytearray
    whole: bool = False


class Rings:
    """`entries`: commands by address. `faults`: share of accesses that the memory refuses.

    Of the newest clock: `command` is the port and the entry of a command that has come whole; `stops` has each port
    whose access was refused, and the clocks until it runs no more.
    """

    def __init__(self, dut: Any, notices: Notices, draw: Random) -> None:
        self.entries: dict[int, bytes] = {}
        self.faults = 0.0
        self.fetched: list[int] = []  # ports, in order
        self.command: tuple[int, bytes] | None = None
        self.stops: dict[int, int] = {}
        self._dut, self._notices, self._draw = dut, notices, draw
        self._ports = notices.model.ports
        self._fetches, self._stores = Turn(len(self._ports)), Turn(len(self._ports))
        self._offered = {"ar": -1, "aw": -1}  # the port whose address is offered
        self._read: Read | None = None
        self._write: Write | None = None

    @property
    def reads(self) -> bool:
        return self._read is not None

    def step(self, clock: int) -> None:
        """Takes what was on the bus in this clock."""
        self.command = None
        self.stops = {}
        self._fetch(clock)
        self._store(clock)

    def drive(self, free: Callable[[str], bool]) -> None:
        """For the next clock. `free`: a channel of the bus is not held back."""
        for name in ("ar", "aw", "w"):
            self._set(f"{name}ready", int(free(name)))
        give = free("r")
        if self._passed_or_idle("r"):
            self._set("rvalid", int(give and self.reads))
            if self._read is not None:
                at = BEAT * self._read.beats
                self._set("rdata", int.from_bytes(self._read.entry[at : at + BEAT], "little"))
                self._set("rresp", 2 if self._read.refused else 0)
                self._set("rlast", int(at + BEAT == number("commandBytes")))
        give = free("b") and self._write is not None and self._write.whole
        if self._passed_or_idle("b"):
            self._set("bvalid", int(give))
            self._set("bresp", 2 if give and self._draw.random() < self.faults else 0)

    # ---- the bus

    def _bit(self, name: str) -> bool:
        return bool(getattr(self._dut, f"rings_{name}").value == 1)

    def _value(self, name: str) -> int:
        return int(getattr(self._dut, f"rings_{name}").value)

    def _set(self, name: str, value: int) -> None:
        getattr(self._dut, f"rings_{name}").value = value

    def _passes(self, channel: str) -> bool:
        return self._bit(f"{channel}valid") and self._bit(f"{channel}ready")

    def _passed_or_idle(self, channel: str) -> bool:
        return not self._bit(f"{channel}valid") or self._bit(f"{channel}ready")

    def _offer(self, channel: str, ring: str) -> int | None:
        """The port of an address that is offered for the first time."""
        if not self._bit(f"{channel}valid") or self._offered[channel] >= 0:
            return None
        address = self._value(f"{channel}addr")
        port = next(port for port in range(len(self._ports)) if 0 <= address - base(port, ring) < RING)
        each = self._ports[port]
        at, size = (
            (each.command_head, each.command_size) if ring == "command" else (each.written, each.notification_size)
        )
        assert address == base(port, ring) + at % (1 << size) * number(f"{ring}Bytes")
        self._offered[channel] = port
        return port

    def _fetch(self, clock: int) -> None:
        wants = [
            each.running and each.command_head != each.command_tail and self._notices.may_fetch(port)
            for port, each in enumerate(self._ports)
        ]
        self._fetches.want(clock, wants)
        port = self._offer("ar", "command")
        if port is not None:
            self._fetches.take(clock, port, "a command")
            shape = tuple(self._value(f"ar{name}") for name in ("len", "size", "burst"))
            assert shape == (number("commandBytes") // BEAT - 1, 3, 1)
            self._notices.expect_command(port)
            self.fetched.append(port)
        if self._passes("ar"):
            entry = self.entries.get(self._value("araddr"), bytes(number("commandBytes")))
            self._read = Read(self._offered["ar"], entry, self._draw.random() < self.faults)
            self._offered["ar"] = -1
        if self._passes("r"):
            assert self._read is not None
            self._read.beats += 1
            if BEAT * self._read.beats == number("commandBytes"):
                read, self._read = self._read, None
                if read.refused:
                    self._notices.places[read.port] -= 1
                    self.stops[read.port] = 2
                else:
                    self.command = (read.port, read.entry)

    def _store(self, clock: int) -> None:
        self._stores.want(clock, [self._notices.waits(port) for port in range(len(self._ports))])
        port = self._offer("aw", "notification")
        if port is not None:
            assert self._ports[port].has_space, "the ring is full"
            self._stores.take(clock, port, "a notification")
            self._write = Write(port, list(self._notices.history), bytearray())
        if self._passes("aw"):
            self._offered["aw"] = -1
        if self._passes("w"):
            write = self._write
            assert write is not None and self._value("wstrb") == (1 << BEAT) - 1
            write.entry += self._value("wdata").to_bytes(BEAT, "little")
            write.whole = len(write.entry) == number("notificationBytes")
            assert self._bit("wlast") == write.whole
            if write.whole:
                each = self._ports[write.port]
                each.shown = (each.written + 1) & MASK
                self._notices.judge(write.port, bytes(write.entry), write.past)
        if self._passes("b"):
            assert self._write is not None
            write, self._write = self._write, None
            if self._value("bresp"):
                self.stops[write.port] = 1
            else:
                self._ports[write.port].written = (self._ports[write.port].written + 1) & MASK
