# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Addresses of a flow's bytes in the payload memory of the default preset, calculated independently."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Protocol

FLOWS = 16
BUFFER_BYTES = 64 * 1024
MEMORY_BYTES = 2 * FLOWS * BUFFER_BYTES


class Memory(Protocol):
    def read(self, address: int, length: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...


@dataclass(frozen=True)
class Buffers:
    """The send or the receive buffers of all flows; a byte lies at its sequence number modulo the buffer's size."""

    base: int

    def addresses(self, flow: int, sequence: int, length: int) -> list[int]:
        start = self.base + flow * BUFFER_BYTES
        return [start + (sequence + index) % BUFFER_BYTES for index in range(length)]

    def read(self, memory: Memory, flow: int, sequence: int, length: int) -> bytes:
        flow_base, at = self.base + flow * BUFFER_BYTES, sequence % BUFFER_BYTES
        first = min(length, BUFFER_BYTES - at)
        return bytes(memory.read(flow_base + at, first)) + bytes(memory.read(flow_base, length - first))

    def write(self, memory: Memory, flow: int, sequence: int, data: bytes) -> None:
        flow_base, at = self.base + flow * BUFFER_BYTES, sequence % BUFFER_BYTES
        first = min(len(data), BUFFER_BYTES - at)
        memory.write(flow_base + at, data[:first])
        memory.write(flow_base, data[first:])


SEND = Buffers(base=0)
RECEIVE = Buffers(base=MEMORY_BYTES // 2)


class Mirror:
    """The bytes that a memory must hold, kept beside it."""

    def __init__(self, memory: Memory) -> None:
        self.bytes = bytearray(memory.read(0, MEMORY_BYTES))

    def read(self, address: int, length: int) -> bytes:
        return bytes(self.bytes[address : address + length])

    def write(self, address: int, data: bytes) -> None:
        self.bytes[address : address + len(data)] = data

    def differences(self, memory: Memory) -> list[str]:
        """The first few addresses whose byte is not what it must be."""
        found = zip(range(MEMORY_BYTES), memory.read(0, MEMORY_BYTES), self.bytes, strict=True)
        return list(islice((f"{at:#x}: {is_:#x}, not {must:#x}" for at, is_, must in found if is_ != must), 8))
