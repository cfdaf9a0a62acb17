# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Recovery's scoreboard against sets of bytes: what is held, what is lost, what is in the network, what goes out next."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from cocotb_tests.bench import StreamMonitor, StreamSource, generator, start
from cocotb_tests.bench.runner import run_room
from cocotb_tests.golden.engine.scoreboard import (
    RANGES,
    Range,
    Scoreboard,
    credit,
    is_lost,
    lost_and_waiting,
)

EVENTS = 4000
SEGMENT = 100  # bytes, so that sets stay small


def test_scoreboard() -> None:
    run_room("ScoreboardBench", __name__)


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


class Bench:
    def __init__(self, dut: Any) -> None:
        self.questions = StreamSource(dut, "question")
        self.answers = StreamMonitor(dut, "answer")
        self.dut = dut

    async def ask(self, board: Scoreboard, blocks: list[Range | None], **fields: int) -> dict[str, int]:
        beat = words("blocks", blocks)
        for i, (left, right) in enumerate((board.held + ((0, 0),) * RANGES)[:RANGES]):
            beat |= {f"before_ranges_{i}_left": left, f"before_ranges_{i}_right": right}
        beat |= {"before_resentTo": board.resent_to, "before_passed": board.passed, "before_turn": board.turn}
        beat |= {"segmentSize": SEGMENT, "selective": 1, "mayRepeat": 1}
        beat |= dict.fromkeys(("forget", "recovering", "retransmit", "duplicates", "acked"), 0) | fields
        self.questions.put(beat)
        answer: dict[str, int] = await self.answers.receive()
        return answer


async def bench(dut: Any) -> Bench:
    made = Bench(dut)
    await start(dut)
    return made


def ranges_of(answer: dict[str, int]) -> list[Range]:
    """The valid ones, which are packed to the front."""
    valid = [answer[f"ranges_{i}_valid"] for i in range(RANGES)]
    assert valid == sorted(valid, reverse=True), "a gap in the list"
    return [(answer[f"ranges_{i}_left"], answer[f"ranges_{i}_right"]) for i in range(sum(valid))]


@cocotb.test()
async def ranges_credit_and_next_segment_are_those_of_the_sets(dut: Any) -> None:
    room = await bench(dut)
    draw = generator()
    seen = dict.fromkeys(("lost", "by parts", "fifth", "old", "emptied", "passes", "before", "spans"), 0)
    board = Scoreboard()
    for _ in range(EVENTS):
        acked = draw.choice([0, 0, 0, 0, draw.randrange(1, 12) * SEGMENT])
        blocks: list[Range | None] = [drawn_range(draw) if draw.random() < 0.6 else None for _ in range(4)]
        recovering = draw.random() < 0.7
        if draw.random() < 0.05:
            board = Scoreboard()
        if draw.random() < 0.3:
            resent_to = draw.randrange(0, 30) * SEGMENT // 2
            board = Scoreboard(board.held, resent_to, draw.randrange(0, resent_to + 1), board.turn)
        may_repeat = draw.random() < 0.8
        answer = await room.ask(board, blocks, acked=acked, recovering=recovering, mayRepeat=may_repeat)
        before = board.acknowledged(acked, SEGMENT)
        after = before.told(blocks)
        assert ranges_of(answer) == list(after.held), f"{board} {blocks} {acked}"
        assert (answer["resentTo"], answer["passed"]) == (after.resent_to, after.passed), f"{board} {blocks} {acked}"
        first = blocks[0] or blocks[1]
        lost = is_lost(before.told_first(blocks), 0, SEGMENT)
        alone = first is not None and is_lost(Scoreboard((first,)), 0, SEGMENT)
        assert answer["firstIsLost"] == lost
        news = before.is_news(blocks)
        assert answer["isNews"] == news
        waiting = lost_and_waiting(after, SEGMENT) if recovering else []
        assert answer["retransmitLost"] == (bool(waiting) and may_repeat)
        assert answer["credit"] == credit(after)
        if waiting:
            assert answer["offset"] == waiting[0]
            run = next((left for left, _ in after.held if left > waiting[0]))
            assert answer["limit"] == run - waiting[0]
        seen["lost"] += bool(waiting)
        seen["by parts"] += lost and not alone and not is_lost(before, 0, SEGMENT)
        seen["fifth"] += len(after.held) == RANGES
        seen["old"] += first is not None and not news
        seen["emptied"] += bool(board.held) and not before.held
        seen["passes"] += bool(board.held) and board.held[0][1] <= board.resent_to
        seen["before"] += first is not None and first[1] <= before.resent_to
        seen["spans"] += before.passed > after.passed
        board = after
    assert min(seen.values()) > EVENTS // 100, f"the draw has missed a case: {seen}"


@cocotb.test()
async def a_timeout_forgets_all(dut: Any) -> None:
    """RFC 2018 8: the peer may have thrown away what it held."""
    room = await bench(dut)
    board = Scoreboard(((100, 200),), resent_to=50, passed=20)
    answer = await room.ask(board, [(300, 400), None, None, None], forget=1, recovering=1)
    assert ranges_of(answer) == []
    assert (answer["credit"], answer["passed"], answer["retransmitLost"]) == (0, 0, 0)


@cocotb.test()
async def the_first_byte_goes_first_when_it_must(dut: Any) -> None:
    """RFC 6675 5, (4.3): entering recovery the first segment is sent again, up to what the peer holds."""
    room = await bench(dut)
    answer = await room.ask(Scoreboard(((300, 700),)), [None] * 4, retransmit=1, recovering=1)
    assert (answer["offset"], answer["limit"]) == (0, 300)


@cocotb.test()
@cocotb.parametrize(duplicates=[0, 1, 2, 3])
async def without_sack_two_duplicates_let_two_more_segments_go(dut: Any, duplicates: int) -> None:
    """RFC 3042 2: limited transmit, outside recovery only."""
    room = await bench(dut)
    answer = await room.ask(Scoreboard(), [None] * 4, selective=0, duplicates=duplicates)
    assert answer["credit"] == min(duplicates, 2) * SEGMENT
    answer = await room.ask(Scoreboard(), [None] * 4, selective=0, duplicates=duplicates, recovering=1)
    assert answer["credit"] == 0


@cocotb.test()
async def blocks_count_only_when_sack_is_agreed(dut: Any) -> None:
    room = await bench(dut)
    answer = await room.ask(Scoreboard(), [(100, 200), None, None, None], selective=0)
    assert ranges_of(answer) == []
    assert answer["isNews"] == 0
