# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bench of the Receiver: the MAC in front of it, the reader of its slots and the bypass behind it."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import RisingEdge

from cocotb_tests.addresses import CORE_IP, CORE_MAC, vlan_pins
from cocotb_tests.bench import Beat, FrameSink, FrameSource, StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.rx.packets import number, read

SLOTS = 8  # the default configuration's

CAUSES = (
    "badFrame",
    "oversize",
    "bypassOverflow",
    "controlOverflow",
    "ipVersion",
    "ipHeaderLength",
    "ipLength",
    "truncated",
    "ipChecksum",
    "fragment",
    "sourceRoute",
    "tcpHeaderLength",
    "tcpChecksum",
    "options",
    "invalidSource",
    "land",
    "portZero",
    "flags",
    "noSlot",
)


class WireSource(FrameSource):
    """A MAC: behind a frame's last byte its beats carry noise."""

    def _beats(self, data: bytes, extras: dict[str, int]) -> list[Beat]:
        beats = super()._beats(data, extras)
        kept = beats[-1]["frame_keep"].bit_length()
        width = self.stream.ports.widths["frame_data"]
        beats[-1]["frame_data"] |= self._random.getrandbits(width) << 8 * kept & (1 << width) - 1
        return beats


class Receiver:
    """All streams of the module, stalled at random for a share of the clocks."""

    def __init__(self, dut: Any, *, gaps: float = 0.0, stall: float = 0.0) -> None:
        self.dut = dut
        self.random = generator()
        self.wire = WireSource(dut, "wire", stall=gaps, extras_once=True)
        self.bypass = FrameSink(dut, "bypass", stall=stall)
        self.control = FrameSink(dut, "control", stall=stall)
        self.segments = StreamSink(dut, "segments", stall=stall)
        self.freed = StreamSource(dut, "slotFree")
        self.width = self.wire.stream.ports.widths["frame_data"] // 8  # bytes of a beat
        self._stamps: list[tuple[int, int]] = []

    async def start(self) -> None:
        await start(
            self.dut,
            local_mac=number(CORE_MAC),
            local_ip=number(CORE_IP),
            slotRead_enable=0,
            slotRead_slot=0,
            slotRead_beat=0,
            **vlan_pins(),
        )

    def put(self, *frames: bytes, error: int = 0) -> None:
        """Frames arrive, with any stamps."""
        for raw in frames:
            stamp = {"stamp_ns": self.random.getrandbits(48), "stamp_fraction": self.random.getrandbits(16)}
            self.wire.put(raw, error=error, **stamp)

    async def settle(self) -> None:
        """All that was put has gone its way, as far as it can."""
        await self.wire.drained(200_000)
        # A beat that was just taken shows in `idle` one clock later.
        await clocks(self.dut, 2)
        await until(self.dut, lambda: self.dut.idle.value == 1, "the receiver to become idle", 20_000)

    def drops(self) -> dict[str, int]:
        """The counters that are not zero."""
        counts = {cause: int(getattr(self.dut, f"drops_{cause}").value) for cause in CAUSES}
        return {cause: count for cause, count in counts.items() if count}

    async def frame_in(self, slot: int, length: int) -> bytes:
        """The first bytes of a slot."""
        dut, data, width = self.dut, b"", self.width
        dut.slotRead_enable.value = 1
        dut.slotRead_slot.value = slot
        for beat in range((length + width - 1) // width + 1):
            dut.slotRead_beat.value = min(beat, (1 << len(dut.slotRead_beat)) - 1)
            await RisingEdge(dut.clk)
            if beat:
                data += int(dut.slotRead_data.value).to_bytes(width, "little")
        dut.slotRead_enable.value = 0
        return data[:length]

    async def expect(self, raw: bytes) -> Beat:
        """The next segment is this frame's, in all fields and with its payload; it keeps its slot."""
        fields, payload = read(raw)
        beat = await self.segments.receive()
        assert {name: beat[name] for name in fields} == fields
        if beat["payload_held"]:
            end = fields["payload_offset"] + len(payload)
            assert (await self.frame_in(beat["payload_slot"], end))[fields["payload_offset"] :] == payload
        return beat

    def free(self, beat: Beat) -> None:
        """The segment's slot, if it has one, is not needed any more."""
        if beat["payload_held"]:
            self.freed.put(beat["payload_slot"])
