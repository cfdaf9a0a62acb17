# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hoe's ssthresh by packet pair, as rtl/downbeat/congestion/startup/Hoe.scala.

The ACKs of the first pair, sent back to back, arrive y0 apart: ssthresh = floor(R / y0) segments, R the round trip of its
first segment; once. Argument: 1 inverts the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cocotb_tests.golden.calculation import gap_window
from cocotb_tests.golden.congestion import packet_pairs
from cocotb_tests.golden.congestion.packet_pairs import PacketPairs, first_gap
from cocotb_tests.golden.congestion.seam import (
    Answer,
    Calculation,
    Calculator,
    CongestionEvent,
    Departure,
    Kind,
    Window,
    of_bytes,
    wrap,
)
from cocotb_tests.golden.congestion.slow_start import slow_start

TIME_BITS = 36


@dataclass(frozen=True)
class HoeWord:
    """Its fields as the wires have them, lowest first."""

    inverted: bool = False
    pairs: PacketPairs = field(default_factory=PacketPairs)
    gap: int = 0  # ns
    round_trip: int = 0  # ns
    over: bool = False

    def packed(self) -> int:
        bits = (int(self.over) << TIME_BITS | self.round_trip) << TIME_BITS | self.gap
        return (bits << packet_pairs.BITS | self.pairs.packed()) << 1 | self.inverted

    @staticmethod
    def unpacked(bits: int) -> HoeWord:
        times = bits >> 1 + packet_pairs.BITS
        return HoeWord(
            inverted=bool(bits & 1),
            pairs=PacketPairs.unpacked(bits >> 1),
            gap=wrap(times, TIME_BITS),
            round_trip=wrap(times >> TIME_BITS, TIME_BITS),
            over=bool(times >> 2 * TIME_BITS),
        )


@dataclass(frozen=True)
class Hoe:
    name: str = "hoe"
    state_bits: int = 2 + packet_pairs.BITS + 2 * TIME_BITS
    calculator: Calculator = field(default=gap_window.CALCULATOR)

    def answer(self, event: CongestionEvent, window: Window, word: int) -> Answer:
        before = HoeWord.unpacked(word)
        after = replace(before, pairs=before.pairs.after(event, inverted=before.inverted))
        new = slow_start(event, window)
        if before.gap == 0:
            round_trip = before.round_trip if event.rtt is None else event.rtt
            after = replace(after, round_trip=round_trip, gap=first_gap(event))
        match event.kind:
            case Kind.ESTABLISHED:
                after = replace(after, gap=0, round_trip=0, over=False)
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(after, over=True)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                after = replace(after, over=True)
                new = replace(new, ssthresh=of_bytes(wrap(event.calculated.answer, 31)))
            case _:
                pass
        departure = Departure()
        if after.pairs.ready and after.pairs.left > 0 and before.gap == 0 and not after.over:
            departure = after.pairs.departure(inverted=before.inverted)
        asked = None
        if before.gap and before.round_trip and not before.over and not event.calculating:
            asked = Calculation(gap_window.question(before.gap, before.round_trip, event.segment_size))
        return Answer(new, after.packed(), departure, asked)


POLICY = Hoe()
