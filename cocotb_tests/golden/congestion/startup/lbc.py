# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Slow start that counts bytes (RFC 3465, L = 2), as rtl/downbeat/congestion/startup/Lbc.scala.

On an ACK of N new bytes: cwnd += min(N, 2 SMSS); once something was lost cwnd += min(N, SMSS). The word: something was lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from cocotb_tests.golden.congestion.seam import Answer, CongestionEvent, Kind, Window
from cocotb_tests.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class Lbc:
    name: str = "lbc"
    state_bits: int = 1

    def answer(self, event: CongestionEvent, window: Window, word: int) -> Answer:
        after = slow_start(event, window, at_most=(1 if word else 2) * event.segment_size)
        match event.kind:
            case Kind.ESTABLISHED:
                word = 0
            case Kind.LOSS | Kind.TIMEOUT:
                word = 1
            case _:
                pass
        return Answer(after, word)


POLICY = Lbc()
