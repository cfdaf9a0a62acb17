# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SACK blocks become bytes from SEG.ACK on; what lies elsewhere than in the send buffer is left out."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from cocotb_tests.addresses import CORE_MAC
from cocotb_tests.bench import generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.options import SEND_BUFFER, any_edges, sack_fields
from cocotb_tests.rx.packets import frame
from cocotb_tests.rx.receiver import Receiver


@each_width
def test_sack_reader(width: int) -> None:
    run_width("Receiver", __name__, width)


async def _read(receiver: Receiver, acknowledgment: int, *offsets: int) -> tuple[list[tuple[int, int] | None], bool]:
    edges = tuple((acknowledgment + offset) % (1 << 32) for offset in offsets)
    receiver.put(frame(tcp={"ack": acknowledgment, "options": [("SAck", edges)]}))
    beat = await receiver.segments.receive()
    blocks = [
        (beat[f"options_sack_{n}_left"], beat[f"options_sack_{n}_right"]) if beat[f"options_sack_{n}_valid"] else None
        for n in range(4)
    ]
    return blocks, bool(beat["options_duplicateSack"])


ACKNOWLEDGMENTS = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFF8000, 0xFFFFFFFF]


@cocotb.test()
@cocotb.parametrize(ack=ACKNOWLEDGMENTS)
async def a_block_counts_from_the_acknowledgment_to_the_buffers_end(dut: Any, ack: int) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    end = SEND_BUFFER
    for left, right in [(1, 2), (1, end), (end - 1, end), (1000, 2460)]:
        assert await _read(receiver, ack, left, right) == ([(left, right), None, None, None], False)
    for left, right in [(0, 1), (0, end), (1, 1), (2, 1), (1, end + 1), (end, end + 1), (-1, 5), (5, -1), (end + 1, 5)]:
        assert await _read(receiver, ack, left, right) == ([None] * 4, False), (left, right)
    far = 1 << 31
    for left, right in [(far, far + 1), (1, far), (1, far + 1), (far - 1, far), (1 << 17, (1 << 17) + 5), (5, 1 << 18)]:
        assert not any((await _read(receiver, ack, left, right))[0]), (left, right)


@cocotb.test()
async def blocks_keep_the_order_of_the_wire(dut: Any) -> None:
    """RFC 2018 4: the first one reports what came last."""
    receiver = Receiver(dut)
    await receiver.start()
    blocks, duplicate = await _read(receiver, 5, 900, 1000, 1, 100, 0, 50, 300, 400)
    assert (blocks, duplicate) == ([(900, 1000), (1, 100), None, (300, 400)], False)


@cocotb.test()
@cocotb.parametrize(ack=ACKNOWLEDGMENTS)
async def a_first_block_at_or_before_the_acknowledgment_is_a_duplicate(dut: Any, ack: int) -> None:
    """RFC 2883 4, case 1."""
    receiver = Receiver(dut)
    await receiver.start()
    for left, right in [(-500, 0), (-1, 0), (-500, -1), (-70000, -69000)]:
        assert await _read(receiver, ack, left, right) == ([None] * 4, True)
        assert await _read(receiver, ack, left, right, 10, 20) == ([None, (10, 20), None, None], True)
        # Only the first one is one; the others are merely old.
        assert await _read(receiver, ack, 10, 20, left, right) == ([(10, 20), None, None, None], False)
    for left, right in [(-500, 1), (-1, -1), (0, 0), (0, -5)]:
        assert await _read(receiver, ack, left, right) == ([None] * 4, False), (left, right)


@cocotb.test()
async def a_first_block_inside_the_second_one_is_a_duplicate(dut: Any) -> None:
    """RFC 2883 4, case 2."""
    receiver = Receiver(dut)
    await receiver.start()
    for left, right in [(100, 200), (100, 101), (199, 200), (150, 160)]:
        expected = [None, (100, 200), (300, 400), None]
        assert await _read(receiver, 7, left, right, 100, 200, 300, 400) == (expected, True)
    for left, right in [(99, 200), (100, 201), (50, 60), (250, 260), (50, 250)]:
        expected = [(left, right), (100, 200), None, None]
        assert await _read(receiver, 7, left, right, 100, 200) == (expected, False)
    # Inside the third one, or inside one that does not count.
    assert await _read(receiver, 7, 310, 320, 100, 200, 300, 400) == ([(310, 320), (100, 200), (300, 400), None], False)
    assert await _read(receiver, 7, 310, 320, 300, SEND_BUFFER + 1) == ([(310, 320), None, None, None], False)


@cocotb.test()
async def a_frame_close_behind_changes_no_block(dut: Any) -> None:
    """IPv6's traffic class stands where IPv4 has its header's length: small ones move the acknowledgment forward."""
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    for traffic_class in range(0, 256, 16):
        acknowledgment = random.getrandbits(32)
        edges = any_edges(random, acknowledgment, random.randrange(1, 5))
        receiver.put(frame(tcp={"ack": acknowledgment, "options": [("SAck", tuple(edges))]}))
        receiver.put(bytes(Ether(dst=CORE_MAC) / IPv6(tc=traffic_class) / Raw(random.randbytes(40))))
        expected = sack_fields(acknowledgment, edges)
        beat = await receiver.segments.receive()
        assert {name: beat[name] for name in expected} == expected, traffic_class


@cocotb.test()
async def any_blocks_are_read_as_the_rules_say(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    duplicates = 0
    for _ in range(1500):
        acknowledgment = random.getrandbits(32)
        edges = any_edges(random, acknowledgment, random.randrange(1, 5))
        receiver.put(frame(tcp={"ack": acknowledgment, "options": [("SAck", tuple(edges))]}))
        expected = sack_fields(acknowledgment, edges)
        beat = await receiver.segments.receive()
        assert {name: beat[name] for name in expected} == expected, [
            (edge - acknowledgment) % (1 << 32) for edge in edges
        ]
        duplicates += expected["options_duplicateSack"]
    assert 100 < duplicates < 1000
