# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The payload store as the placement writer sees it: frames in slots, read a beat at a time."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import generator

SLOTS = 8
SLOT_BYTES = 2048


class SlotStore:
    """Random frames; answers `slotRead` one clock after `enable` and holds the answer, as block RAM does."""

    def __init__(self, dut: Any) -> None:
        random = generator()
        self.frames = [random.randbytes(SLOT_BYTES) for _ in range(SLOTS)]
        self._dut = dut
        self._width = len(dut.slotRead_data) // 8
        cocotb.start_soon(self._run())

    def payload(self, slot: int, offset: int, length: int) -> bytes:
        return self.frames[slot][offset : offset + length]

    async def _run(self) -> None:
        dut, width = self._dut, self._width
        while True:
            await RisingEdge(dut.clk)
            if dut.slotRead_enable.value == 1:
                at = int(dut.slotRead_beat.value) * width
                beat = self.frames[int(dut.slotRead_slot.value)][at : at + width]
                dut.slotRead_data.value = int.from_bytes(beat, "little")


def placement(
    flow: int,
    sequence: int,
    length: int,
    *,
    slot: int = 0,
    offset: int = 54,
    fin: int = 0,
    discard: int = 0,
    generation: int = 0,
) -> dict[str, int]:
    """A beat of `placements`."""
    return {
        "reference_flow": flow,
        "reference_generation": generation,
        "payload_held": 1,
        "payload_slot": slot,
        "payload_offset": offset,
        "discard": discard,
        "sequence_value": sequence % 2**32,
        "length": length,
        "fin": fin,
    }
