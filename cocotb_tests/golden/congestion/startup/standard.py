# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Standard slow start (RFC 5681 3.1), as rtl/downbeat/congestion/startup/Standard.scala.

On `established`: cwnd = initial window x SMSS, ssthresh = the connection's initial ssthresh.
On an ACK of N new bytes: cwnd += min(N, SMSS).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cocotb_tests.golden.congestion.seam import Answer, CongestionEvent, Kind, Window, of_bytes, wrap


@dataclass(frozen=True)
class Standard:
    name: str = "standard"
    state_bits: int = 0

    def answer(self, event: CongestionEvent, window: Window, word: int) -> Answer:
        match event.kind:
            case Kind.ESTABLISHED:
                initial = event.initial_window * event.segment_size
                window = Window(of_bytes(initial), of_bytes(event.initial_ssthresh))
            case Kind.ACKNOWLEDGED:
                increment = min(event.acked_bytes, event.segment_size)
                window = replace(window, cwnd=wrap(window.cwnd + of_bytes(increment)))
            case _:
                pass
        return Answer(window, word)


POLICY = Standard()
