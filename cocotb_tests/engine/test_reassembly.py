# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Out-of-order data is kept: RCV.NXT and the SACK blocks against a set of bytes (RFC 9293 3.10.7.4, RFC 2018 4)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, RECEIVE_WINDOW, Endpoint
from cocotb_tests.engine.segment import MODULUS, Options, Placed, offset


def test_reassembly() -> None:
    run_module(MODULE, __name__)


def test_reassembly_with_spaced_events() -> None:
    run_module("FlowEngineSpaced", __name__, label="spaced")


@dataclass
class Bytes:
    """A receiver with four places for data beyond a hole: a set of bytes, no ranges."""

    first: int
    known: set[int] = field(default_factory=set)  # offsets
    newest: dict[int, int] = field(default_factory=dict)  # when a byte came last
    clock: int = 0

    @property
    def next(self) -> int:
        following = 0
        while following in self.known:
            following += 1
        return following

    def runs(self, known: set[int]) -> list[tuple[int, int]]:
        """Maximal runs beyond the first hole."""
        following = 0
        while following in known:
            following += 1
        beyond = sorted(byte for byte in known if byte > following)
        starts = [byte for byte in beyond if byte - 1 not in known]
        ends = [byte + 1 for byte in beyond if byte + 1 not in known]
        return list(zip(starts, ends, strict=True))

    def place(self, placed: Placed) -> None:
        start = offset(placed.seq, self.first)
        new = set(range(start, start + placed.length))
        if len(self.runs(self.known | new)) <= 4:
            self.clock += 1
            self.known |= new
            self.newest |= dict.fromkeys(new, self.clock)

    def blocks(self) -> list[tuple[int, int]]:
        """The newest run first (RFC 2018 4), as sequence numbers."""
        runs = sorted(self.runs(self.known), key=lambda run: -max(self.newest[byte] for byte in range(*run)))
        return [((self.first + left) % MODULUS, (self.first + right) % MODULUS) for left, right in runs]

    def has(self, left: int, right: int) -> bool:
        return self.known.issuperset(range(left, right))


def arrivals(draw: random.Random, length: int) -> list[tuple[int, int]]:
    """Segments that bring all bytes at last: late, twice, overlapping, and cut again."""
    segments = []
    for copy, share in enumerate([0.5, 0.6, 1.0]):  # the share of those that are not lost
        at = 0
        while at < length:
            size = min(draw.choice([1, 7, 40, 100, 250]), length - at)
            if draw.random() < share:
                segments.append((at + 500 * copy + draw.choice([0, 0, 200]) * draw.random(), at, at + size))
            at += size
    again = [(at, min(at + 250, length)) for at in range(0, length, 250)]  # data that found no place
    return [(left, right) for _, left, right in sorted(segments)] + again


async def connected(dut: Any, *, first: int = 77_000, **fields: Any) -> Endpoint:
    return await Endpoint.connected(dut, first=first, options=Options(sack=True), **fields)


@cocotb.test()
@cocotb.parametrize(first=[77_000, MODULUS - 1_500, 2**17 - 900])
async def random_arrivals_leave_what_a_set_of_bytes_says(dut: Any, first: int) -> None:
    endpoint = await connected(dut, first=first)
    draw = generator()
    origin = endpoint.seq
    model = Bytes(origin)
    length = 8_000
    reported = duplicates = consumed = 0
    for left, right in arrivals(draw, length):
        before = len(endpoint.placements)
        twice = [((origin + left) % MODULUS, (origin + right) % MODULUS)] if model.has(left, right) else []
        duplicates += len(twice)
        endpoint.send("A", right - left, seq=origin + left)
        replies = await endpoint.replies()
        for placed in endpoint.placements[before:]:
            start = offset(placed.seq, origin)
            assert left <= start and start + placed.length == right, "other bytes than the segment's were placed"
            assert start == max(left, model.next) and placed.offset == 54 + start - left
            model.place(placed)
        assert offset(endpoint.status["received_value"], origin) == model.next
        for reply in replies:
            assert offset(reply.ack, origin) == model.next
            assert reply.sack == (twice + model.blocks())[:4], "RFC 2883 4: what came twice stands first"
            reported += len(reply.sack)
        endpoint.application("consumed", model.next - consumed)
        consumed = model.next
        await endpoint.replies()
    assert model.next == length
    assert reported > 300, "the draw made hardly any holes"
    assert duplicates > 20


@cocotb.test()
async def placements_on_their_way_are_judged_by_what_is_in_memory(dut: Any) -> None:
    """The same data twice before memory has answered once, and a hole filled meanwhile."""
    endpoint = await connected(dut, auto_place=False)
    origin = endpoint.seq
    for left, right in [(100, 200), (0, 100), (0, 100), (50, 250)]:
        endpoint.send("A", right - left, seq=origin + left)
    await endpoint.silent()
    assert [(offset(p.seq, origin), p.length) for p in endpoint.unplaced] == [(100, 100), (0, 100), (0, 100), (50, 200)]
    for expected, blocks in [(0, [(100, 200)]), (200, []), (200, []), (250, [])]:
        endpoint.place()
        await endpoint.settle()
        assert offset(endpoint.status["received_value"], origin) == expected
        replies = await endpoint.replies()
        if expected != 250:
            assert [(offset(left, origin), offset(right, origin)) for left, right in replies[-1].sack] == blocks


@cocotb.test()
async def four_holes_are_kept_and_a_fifth_is_not_reported(dut: Any) -> None:
    endpoint = await connected(dut)
    origin = endpoint.seq
    for hole in range(1, 6):
        endpoint.send("A", 10, seq=origin + 100 * hole)
        last = await endpoint.acknowledged()
    starts = [offset(left, origin) for left, _ in last.sack]
    assert starts == [400, 300, 200, 100]
    endpoint.send("A", 100, seq=origin)
    filled = await endpoint.acknowledged()
    assert offset(filled.ack, origin) == 110
    endpoint.send("A", 10, seq=origin + 500)
    assert [offset(left, origin) for left, _ in (await endpoint.acknowledged()).sack] == [500, 400, 300, 200]


@cocotb.test()
async def data_is_cut_at_the_windows_edge(dut: Any) -> None:
    """RFC 9293 3.10.7.4: what lies beyond the window is trimmed off; with no space nothing is taken."""
    endpoint = await connected(dut)
    origin = endpoint.seq
    endpoint.send("A", 1000, seq=origin + RECEIVE_WINDOW - 400)
    reply = await endpoint.acknowledged()
    assert (endpoint.placements[-1].length, offset(endpoint.placements[-1].seq, origin)) == (400, RECEIVE_WINDOW - 400)
    assert [(offset(left, origin), offset(right, origin)) for left, right in reply.sack] == [
        (RECEIVE_WINDOW - 400, RECEIVE_WINDOW)
    ]
    endpoint.send("A", 100, seq=origin + RECEIVE_WINDOW)
    await endpoint.acknowledged()
    assert len(endpoint.placements) == 1


@cocotb.test()
async def a_whole_window_behind_its_first_byte_is_joined(dut: Any) -> None:
    """The widest range there can be, and its hole filled from RCV.NXT on."""
    endpoint = await connected(dut)
    origin = endpoint.seq
    for left in range(1, RECEIVE_WINDOW, 13_107):
        endpoint.send("A", min(13_107, RECEIVE_WINDOW - left), seq=origin + left)
        reply = await endpoint.acknowledged()
    assert [(offset(left, origin), offset(right, origin)) for left, right in reply.sack] == [(1, RECEIVE_WINDOW)]
    endpoint.send("A", 1, seq=origin)
    reply = await endpoint.acknowledged()
    assert offset(reply.ack, origin) == RECEIVE_WINDOW and not reply.sack and reply.window == 0


@cocotb.test()
async def a_fin_waits_for_the_data_before_it(dut: Any) -> None:
    """RFC 9293 3.10.7.4, eighth step: FIN counts when RCV.NXT reaches it."""
    endpoint = await connected(dut)
    origin = endpoint.seq
    endpoint.send("FA", 50, seq=origin + 100)
    assert (await endpoint.acknowledged()).ack == origin
    assert endpoint.state == "established" and not endpoint.status["peerFinished"]
    endpoint.send("A", 100, seq=origin)
    assert offset((await endpoint.acknowledged()).ack, origin) == 151
    assert endpoint.state == "closeWait" and endpoint.status["peerFinished"]


@cocotb.test()
async def a_fin_alone_waits_too(dut: Any) -> None:
    endpoint = await connected(dut)
    origin = endpoint.seq
    endpoint.send("FA", seq=origin + 100)
    reply = await endpoint.acknowledged()
    assert reply.ack == origin and not reply.sack
    endpoint.send("A", 100, seq=origin)
    assert offset((await endpoint.acknowledged()).ack, origin) == 101
    assert endpoint.state == "closeWait"


@cocotb.test()
async def data_behind_a_known_fin_is_not_taken(dut: Any) -> None:
    endpoint = await connected(dut)
    origin = endpoint.seq
    endpoint.send("FA", 50, seq=origin + 100)
    await endpoint.acknowledged()
    for left, length in [(150, 10), (140, 20), (1000, 1)]:
        endpoint.send("A", length, seq=origin + left)
        await endpoint.acknowledged()
    assert len(endpoint.placements) == 1
    endpoint.send("A", 100, seq=origin)
    assert offset((await endpoint.acknowledged()).ack, origin) == 151


@cocotb.test()
async def a_fin_beyond_the_window_is_not_known(dut: Any) -> None:
    endpoint = await connected(dut)
    origin = endpoint.seq
    endpoint.send("FA", 10, seq=origin + RECEIVE_WINDOW - 5)
    await endpoint.acknowledged()
    assert not endpoint.placements[-1].fin and endpoint.placements[-1].length == 5


@cocotb.test()
async def the_flow_is_kept_until_its_placements_are_done(dut: Any) -> None:
    """Nothing may be written into the buffer of the flow's next connection."""
    endpoint = await connected(dut, auto_place=False)
    for _ in range(3):
        endpoint.send("A", 10)
    await endpoint.settle()
    endpoint.application("abort")
    await endpoint.settle()
    for _ in range(3):
        await endpoint.replies()
        assert not endpoint.released
        endpoint.place()
    await endpoint.replies()
    assert endpoint.released == 1
