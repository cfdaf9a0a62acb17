# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Recovery's scoreboard against sets of bytes: what is held, what is lost, what is in the network, what goes out
next."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from cocotb_tests.bench import StreamMonitor, StreamSource, generator, start
from cocotb_tests.bench.runner import run_module
from sim.golden.engine.scoreboard import (
    NO_TIME,
    RANGES,
    LossesByTime,
    Range,
    Scoreboard,
    credit,
    is_lost,
    lost_and_waiting,
)

EVENTS = 4000
SEGMENT = 100  # bytes, so that sets stay small
OFFSET_BITS = 17
DELIVERED_BITS = OFFSET_BITS + 2  # signed
EVERYTHING = 1 << 15  # bytes: nothing that a block names was not sent
LOSSES = ("lost", "by time", "by parts", "three", "tail")
BLOCKS = ("fifth", "old", "emptied", "passes", "before", "spans", "unsent")


def test_scoreboard() -> None:
    run_module("ScoreboardBench", __name__)


def words(name: str, ranges: list[Range | None]) -> dict[str, int]:
    """Four blocks as the ports have them; what is not valid is noise."""
    beat = {}
    for i in range(RANGES):
        block = ranges[i] if i < len(ranges) else None
        beat[f"{name}_{i}_valid"] = int(block is not None)
        beat[f"{name}_{i}_left"], beat[f"{name}_{i}_right"] = block or (5, 3)
    return beat


def drawn_range(draw: random.Random) -> Range:
    left = draw.randrange(1, 30) * draw.choice([SEGMENT, SEGMENT // 2])
    return left, left + draw.randrange(1, 8) * draw.choice([SEGMENT, SEGMENT // 4])


def drawn_times(draw: random.Random) -> LossesByTime:
    return LossesByTime(draw.random() < 0.5, draw.random() < 0.2, draw.randrange(0, 30) * SEGMENT)


class Bench:
    def __init__(self, dut: Any) -> None:
        self.requests = StreamSource(dut, "request")
        self.responses = StreamMonitor(dut, "response")
        self.dut = dut

    async def request(self, board: Scoreboard, blocks: list[Range | None], **fields: int) -> dict[str, int]:
        beat = words("blocks", blocks)
        for i, (left, right) in enumerate((board.held + ((0, 0),) * RANGES)[:RANGES]):
            beat |= {f"before_ranges_{i}_left": left, f"before_ranges_{i}_right": right}
        beat |= {"before_highRxt": board.high_rxt, "before_passed": board.passed, "before_turn": board.turn}
        beat |= {"segmentSize": SEGMENT, "selective": 1, "mayRetransmit": 1}
        beat |= dict.fromkeys(("forget", "recovering", "retransmit", "duplicates", "acked"), 0)
        beat |= dict.fromkeys(("waits", "all", "lostEnd_low", "probeAgain", "probeNext"), 0)
        beat |= {"outstanding": EVERYTHING} | fields
        self.requests.put(beat)
        response: dict[str, int] = await self.responses.receive()
        return response


async def bench(dut: Any) -> Bench:
    made = Bench(dut)
    await start(dut)
    return made


def ranges_of(response: dict[str, int]) -> list[Range]:
    """The valid ones, which are packed to the front."""
    valid = [response[f"ranges_{i}_valid"] for i in range(RANGES)]
    assert valid == sorted(valid, reverse=True), "a gap in the list"
    return [(response[f"ranges_{i}_left"], response[f"ranges_{i}_right"]) for i in range(sum(valid))]


@cocotb.test()
async def ranges_credit_and_next_segment_are_those_of_the_sets(dut: Any) -> None:
    module = await bench(dut)
    draw = generator()
    seen = dict.fromkeys(LOSSES + BLOCKS, 0)
    board = Scoreboard()
    for _ in range(EVENTS):
        acked = draw.choice([0, 0, 0, 0, draw.randrange(1, 12) * SEGMENT])
        blocks: list[Range | None] = [drawn_range(draw) if draw.random() < 0.6 else None for _ in range(4)]
        recovering = draw.random() < 0.7
        if draw.random() < 0.05:
            board = Scoreboard()
        if draw.random() < 0.3:
            high_rxt = draw.randrange(0, 30) * SEGMENT // 2
            board = Scoreboard(board.held, high_rxt, draw.randrange(0, high_rxt + 1), board.turn)
        if draw.random() < 0.05:  # short blocks apart from each other, and nothing else is held
            board = Scoreboard()
            blocks = [(left, left + SEGMENT // 4) for left in draw.sample(range(SEGMENT, 30 * SEGMENT, 2 * SEGMENT), 4)]
        may_retransmit = draw.random() < 0.8
        outstanding = draw.choice([EVERYTHING, draw.randrange(1, 30) * SEGMENT])
        time = draw.choice([NO_TIME, NO_TIME, drawn_times(draw)])
        response = await module.request(
            board,
            blocks,
            acked=acked,
            recovering=recovering,
            mayRetransmit=may_retransmit,
            outstanding=outstanding,
            waits=time.waits,
            all=time.all,
            lostEnd_low=time.end,
        )
        before = board.acknowledged(acked, SEGMENT)
        after = before.given(blocks, outstanding)
        assert ranges_of(response) == list(after.held), f"{board} {blocks} {acked}"
        assert (response["highRxt"], response["passed"]) == (after.high_rxt, after.passed), f"{board} {blocks} {acked}"
        first = blocks[0] or blocks[1]
        lost = before.loses_first(blocks, SEGMENT, outstanding)
        alone = first is not None and is_lost(Scoreboard((first,)), 0, SEGMENT)
        assert response["firstIsLost"] == lost
        is_new = before.is_new(blocks, outstanding)
        assert response["hasNewSack"] == is_new
        assert response["drops"] == before.drops(blocks, outstanding)
        waiting = lost_and_waiting(after, SEGMENT, time) if recovering else []
        assert response["retransmitLost"] == (bool(waiting) and may_retransmit)
        assert response["credit"] == credit(after)
        assert response["delivered"] == (acked + credit(after) - credit(board)) % (1 << DELIVERED_BITS)
        in_network = outstanding - credit(after) - len(lost_and_waiting(after, SEGMENT, time))
        assert response["pipe"] == in_network % (1 << OFFSET_BITS), "RFC 6675 2: not lost, or sent again"
        if waiting:
            assert response["offset"] == waiting[0]
            run = next((left for left, _ in after.held if left > waiting[0]), time.end)
            assert response["limit"] == run - waiting[0]
        seen["lost"] += bool(waiting)
        seen["by time"] += recovering and waiting != lost_and_waiting(after, SEGMENT)
        seen["by parts"] += lost and not alone and not is_lost(before, 0, SEGMENT)
        seen["fifth"] += response["drops"]
        seen["old"] += first is not None and not is_new
        seen["emptied"] += bool(board.held) and not before.held
        seen["passes"] += bool(board.held) and board.held[0][1] <= board.high_rxt
        seen["before"] += first is not None and first[1] <= before.high_rxt
        seen["three"] += lost and not is_lost(after, 0, SEGMENT)
        seen["unsent"] += first is not None and first[1] > outstanding
        seen["tail"] += bool(waiting) and waiting[-1] > max((right for _, right in after.held), default=0)
        seen["spans"] += before.passed > after.passed
        board = after
    assert min(seen.values()) > EVENTS // 100, f"the draw has missed a case: {seen}"


@cocotb.test()
async def a_timeout_forgets_all(dut: Any) -> None:
    """RFC 2018 8: the peer may have thrown away what it held."""
    module = await bench(dut)
    board = Scoreboard(((100, 200),), high_rxt=50, passed=20)
    response = await module.request(board, [(300, 400), None, None, None], forget=1, recovering=1)
    assert ranges_of(response) == []
    assert (response["credit"], response["passed"], response["retransmitLost"]) == (0, 0, 0)


@cocotb.test()
async def the_first_byte_goes_first_when_it_must(dut: Any) -> None:
    """RFC 6675 5, (4.3): entering recovery the first segment is sent again, up to what the peer holds."""
    module = await bench(dut)
    response = await module.request(Scoreboard(((300, 700),)), [None] * 4, retransmit=1, recovering=1)
    assert (response["offset"], response["limit"]) == (0, 300)


@cocotb.test()
@cocotb.parametrize(outstanding=[30, SEGMENT, 5 * SEGMENT + 30])
async def a_probe_is_the_last_segment_again(dut: Any, outstanding: int) -> None:
    """RFC 8985 7.3: the highest sequence numbers sent, whatever the windows."""
    module = await bench(dut)
    response = await module.request(Scoreboard(), [None] * 4, probeAgain=1, outstanding=outstanding)
    assert (response["retransmitLost"], response["offset"]) == (1, max(outstanding - SEGMENT, 0))
    assert response["limit"] >= SEGMENT and not response["credit"]


@cocotb.test()
async def a_probe_of_new_data_may_go_beyond_cwnd(dut: Any) -> None:
    """RFC 8985 7.3: a segment of new data, if the peer's window has space."""
    module = await bench(dut)
    response = await module.request(Scoreboard(), [None] * 4, probeNext=1)
    assert (response["retransmitLost"], response["credit"]) == (0, SEGMENT)


@cocotb.test()
@cocotb.parametrize(duplicates=[0, 1, 2, 3])
async def without_sack_two_duplicates_let_two_more_segments_go(dut: Any, duplicates: int) -> None:
    """RFC 3042 2: limited transmit, outside recovery only."""
    module = await bench(dut)
    response = await module.request(Scoreboard(), [None] * 4, selective=0, duplicates=duplicates)
    assert response["credit"] == min(duplicates, 2) * SEGMENT
    response = await module.request(Scoreboard(), [None] * 4, selective=0, duplicates=duplicates, recovering=1)
    assert response["credit"] == 0


@cocotb.test()
async def blocks_count_only_when_sack_is_agreed(dut: Any) -> None:
    module = await bench(dut)
    response = await module.request(Scoreboard(), [(100, 200), None, None, None], selective=0)
    assert ranges_of(response) == []
    assert response["hasNewSack"] == 0
