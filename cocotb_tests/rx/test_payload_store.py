# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The payload slots: who holds one, and what happens when none is left."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.packets import frame
from cocotb_tests.rx.receiver import SLOTS, Receiver


@each_width
def test_payload_store(width: int) -> None:
    run_width("Receiver", __name__, width)


@cocotb.test()
async def without_a_free_slot_acknowledgments_pass_and_data_is_counted(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.put(*(frame(bytes([n])) for n in range(SLOTS)))
    held = [await receiver.expect(frame(bytes([n]))) for n in range(SLOTS)]
    for n in range(1, 5):
        receiver.put(frame(b"data"), frame(tcp={"flags": "FA"}), frame(tcp={"ack": n}))
        await receiver.expect(frame(tcp={"ack": n}))
        await receiver.settle()
        assert receiver.drops() == {"noSlot": 2 * n}
    # The slots that are held keep what they have.
    for n, beat in enumerate(held):
        assert (await receiver.frame_in(beat["payload_slot"], 60)) == frame(bytes([n]))
    for beat in reversed(held):
        receiver.free(beat)
        await receiver.settle()
        receiver.put(frame(b"again"))
        again = await receiver.expect(frame(b"again"))
        assert again["payload_slot"] == beat["payload_slot"]


@cocotb.test()
async def only_payload_and_fin_hold_a_slot(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    for flags in ("A", "S", "SA", "R", "RA", "A") * 3:
        receiver.put(frame(tcp={"flags": flags}))
        assert not (await receiver.expect(frame(tcp={"flags": flags})))["payload_held"]
    for flags in ("FA", "FPA"):
        receiver.put(frame(tcp={"flags": flags}))
        assert (await receiver.expect(frame(tcp={"flags": flags})))["payload_held"]


@cocotb.test()
async def the_last_free_slot_is_enough_for_a_stream(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    for n in range(SLOTS - 1):
        receiver.put(frame(bytes([n])))
        await receiver.expect(frame(bytes([n])))
    for _ in range(50):
        data = frame(random.randbytes(random.randrange(1, 300)))
        receiver.put(frame(), frame(), data)
        for raw in (frame(), frame(), data):
            receiver.free(await receiver.expect(raw))
        await receiver.settle()
    assert receiver.drops() == {}
