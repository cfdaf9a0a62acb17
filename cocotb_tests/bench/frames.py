# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Whole frames on a stream with the fields `data`, `keep` and `last`; byte 0 of a frame is data[7:0].

The three stand in a Fragment, in a beat by itself (FrameBeat), or as `frame_data`... inside a beat that carries more
(ReceivedBeat, TransmitBeat).
Any other field of the payload is an extra: one value for the frame, read at the first beat (`error`: at the last,
since only then it is known).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cocotb_tests.bench.ports import SPINAL, Naming, StreamPorts
from cocotb_tests.bench.seeded import generator
from cocotb_tests.bench.stream import Beat, StreamSink, StreamSource
from cocotb_tests.bench.wait import DEFAULT_CLOCKS

FRAME_FIELDS = frozenset({"data", "keep", "last"})
AT_LAST_BEAT = frozenset({"error"})


def _prefix(ports: StreamPorts) -> str:
    return "frame_" if "frame_data" in ports.fields else ""


class Frame(NamedTuple):
    data: bytes
    extras: dict[str, int]


class FrameSource:
    """Cuts frames into beats. An extra holds on every beat, or with `extras_once` is noise where it is not read."""

    def __init__(
        self,
        dut: Any,
        name: str,
        *,
        naming: Naming = SPINAL,
        stall: float = 0.0,
        extras_once: bool = False,
    ) -> None:
        self.stream = StreamSource(dut, name, naming=naming, stall=stall)
        self.extras_once = extras_once
        self._random = generator()

    def put(self, data: bytes, **extras: int) -> None:
        """Queues a frame and returns at once; an extra that is not given is 0."""
        self.stream.put(*self._beats(data, extras))

    async def send(self, data: bytes, *, clocks: int = DEFAULT_CLOCKS, **extras: int) -> None:
        """Queues a frame and waits until it was accepted whole."""
        self.put(data, **extras)
        await self.drained(clocks)

    async def drained(self, clocks: int = DEFAULT_CLOCKS) -> None:
        """Waits until every queued frame was accepted."""
        await self.stream.drained(clocks)

    def _beats(self, data: bytes, extras: dict[str, int]) -> list[Beat]:
        ports = self.stream.ports
        prefix = _prefix(ports)
        names = ports.fields.keys() - {prefix + field for field in FRAME_FIELDS}
        if not extras.keys() <= names:
            raise ValueError(f"{ports.name}: no field {sorted(extras.keys() - names)}; there are {sorted(names)}")
        if not data:
            raise ValueError(f"{ports.name}: a frame has at least one byte")
        held = {name: extras.get(name, 0) for name in sorted(names)}
        step = ports.widths[prefix + "data"] // 8
        beats = []
        for at in range(0, len(data), step):
            part = data[at : at + step]
            last = at + len(part) == len(data)
            beat = {
                prefix + "data": int.from_bytes(part, "little"),
                prefix + "keep": (1 << len(part)) - 1,
                prefix + "last": int(last),
            }
            for name, value in held.items():
                read = last if name in AT_LAST_BEAT else at == 0
                noise = self.extras_once and not read
                beat[name] = self._random.getrandbits(ports.widths[name]) if noise else value
            beats.append(beat)
        return beats


class FrameSink:
    """Puts frames together again, and checks that only a frame's last beat is partly filled, from byte 0 on."""

    def __init__(self, dut: Any, name: str, *, naming: Naming = SPINAL, stall: float = 0.0) -> None:
        self.stream = StreamSink(dut, name, naming=naming, stall=stall)

    async def receive(self, clocks: int = DEFAULT_CLOCKS) -> Frame:
        """The next whole frame, waiting at most `clocks` for each beat."""
        ports = self.stream.ports
        prefix = _prefix(ports)
        width = ports.widths[prefix + "data"] // 8
        data = bytearray()
        extras: dict[str, int] = {}
        while True:
            beat = await self.stream.receive(clocks)
            word, keep, last = (beat.pop(prefix + field) for field in ("data", "keep", "last"))
            for field, value in beat.items():
                if last if field in AT_LAST_BEAT else not data:
                    extras[field] = value
            count = keep.bit_length()
            assert keep and keep == (1 << count) - 1, f"{ports.name}: keep {keep:#x} is empty or has holes"
            assert last or count == width, f"{ports.name}: keep {keep:#x} before the last beat"
            data += word.to_bytes(width, "little")[:count]
            if last:
                return Frame(bytes(data), extras)
