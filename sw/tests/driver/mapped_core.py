# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A core behind uio: and vfio: that is a file of registers and one of memory."""

from __future__ import annotations

import mmap
import re
import struct
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
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


def established(core: Core, **fields: int) -> None:
    common = {"acknowledged": ISS, "written": ISS, "consumed": PEER_ISS, "received": PEER_ISS}
    ends = {"remote_ip": PEER, "remote_port": 80, "local_port": 4000}
    named = {"flow": FLOW, "generation": GENERATION, "state": ESTABLISHED, "request": 1, "command_head": 1}
    core.notify(1, **(common | ends | named | fields))
