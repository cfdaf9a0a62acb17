# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SSIPP, slow start with inverted packet pairs (Yu, thesis), as rtl/downbeat/congestion/startup/Ssipp.scala.

Windows of slow start, + SMSS for the ACK of a pair's first half. Pairs from the second segment on, until something is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from cocotb_tests.golden.congestion.seam import Answer, CongestionEvent, Departure, Kind, Window
from cocotb_tests.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class Ssipp:
    name: str = "ssipp"
    state_bits: int = 2

    def answer(self, event: CongestionEvent, window: Window, word: int) -> Answer:
        begun, lost = bool(word & 1), bool(word & 2)
        match event.kind:
            case Kind.ESTABLISHED:
                begun = lost = False
            case Kind.SENT:
                begun = True
            case Kind.LOSS | Kind.TIMEOUT:
                lost = True
            case _:
                pass
        departure = Departure(inverted=begun and not lost and event.starting_up)
        return Answer(slow_start(event, window, pairs_grow=True), begun | lost << 1, departure)


POLICY = Ssipp()
