# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two devices and the link between them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TypeVar

from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.structures import NEVER, Error

Value = TypeVar("Value")
MACS = (bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2]))
IPS = (0x0A000001, 0x0A000002)
SILENT = (0x0A000003, bytes([2, 0, 0, 0, 0, 3]))  # a neighbour that never answers
LINK_RATE = 10**10  # b/s


class Failed(Exception):
    """The core did what it must not."""


class Wire:
    """A client, a server, and a delay each way; `loses` says which frames of the client get lost."""

    def __init__(
        self,
        library: ctypes.CDLL,
        seed: int,
        delay_ns: int,
        loses: Callable[[bytes], bool] | None = None,
        link_rate: int = LINK_RATE,
    ) -> None:
        self.delay = nanoseconds(delay_ns)
        self.loses = loses or (lambda _: False)
        self.client, self.server = (
            Device(library, mac, ip, link_rate=link_rate, secret=2 * seed + i)
            for i, (mac, ip) in enumerate(zip(MACS, IPS, strict=True))
        )
        for device in self.devices:
            for ip, mac in (*zip(IPS, MACS, strict=True), SILENT):
                device.add_neighbour(ip, mac)

    @property
    def devices(self) -> tuple[Device, Device]:
        return self.client, self.server

    def step(self, longest_ns: int) -> list[tuple[Device, bytes]]:
        """Time passes, so much or until something is due; the frames that left meanwhile, with who sent them."""
        deadline = min(device.next_deadline for device in self.devices)
        now = max(device.now for device in self.devices)
        if deadline == NEVER:
            deadline = now
        # A frame that leaves within the delay arrives after it.
        until = max(now, deadline) + min(nanoseconds(longest_ns), self.delay)
        carried = []
        for device in self.devices:
            device.advance(until)
        for source, sink in (self.devices, self.devices[::-1]):
            for frame, departure in source.frames():
                carried.append((source, frame))
                if source is self.server or not self.loses(frame):
                    sink.put_frame(frame, departure + self.delay)
        return carried

    def at_rest(self) -> bool:
        """Nobody waits for anything, not even for a timer."""
        return all(device.next_deadline == NEVER for device in self.devices)


def would_block(call: Callable[[], Value]) -> Value | None:
    """The call's result, or None if it would block."""
    try:
        return call()
    except DeviceError as error:
        if error.code is Error.WOULD_BLOCK:
            return None
        raise
