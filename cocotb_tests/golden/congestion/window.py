# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The congestion stage's own rules around a connection's two policies.

Below ssthresh the start-up policy grows the window, from ssthresh on the steady policy, which also says what ssthresh a
loss leaves. What lies between loss and recovery is RFC 6582's (3.2), with cwnd = ssthresh + 3 SMSS as it begins; or RFC
6675's, with cwnd = ssthresh, when SACK tells what has left the network. After every event the envelope holds:

    2 SMSS <= ssthresh <= 1 GiB,  SMSS <= cwnd <= 1 GiB

Both policies see every event and both private words are kept; of the windows that they answer, the asked one's counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cocotb_tests.golden.congestion.seam import (
    MAXIMUM_WINDOW,
    CongestionEvent,
    Kind,
    Policy,
    Window,
    of_bytes,
)


@dataclass
class CongestionState:
    """One connection's windows and private words; `see` takes it through one event."""

    startup: Policy
    steady: Policy
    window: Window = field(default_factory=lambda: Window(0, 0))
    startup_word: int = 0
    steady_word: int = 0

    def see(self, event: CongestionEvent) -> Window:
        event = replace(event, starting_up=self.window.cwnd < self.window.ssthresh)
        startup = self.startup.answer(event, self.window, self.startup_word)
        steady = self.steady.answer(event, self.window, self.steady_word)
        self.startup_word, self.steady_word = startup.word, steady.word
        self.window = _envelope(self._answered(event, startup.window, steady.window), event.segment_size)
        return self.window

    def _answered(self, event: CongestionEvent, startup: Window, steady: Window) -> Window:
        cwnd, ssthresh = self.window.cwnd, self.window.ssthresh
        segment = of_bytes(event.segment_size)
        match event.kind:
            case Kind.ESTABLISHED:
                return startup
            case Kind.ACKNOWLEDGED | Kind.PAIRED:
                return startup if event.starting_up else steady
            case Kind.LOSS:
                return Window(steady.ssthresh + (0 if event.uninflated else 3 * segment), steady.ssthresh)
            case Kind.TIMEOUT:
                return Window(segment, steady.ssthresh)
            case Kind.TIMEOUT_AGAIN:
                return Window(segment, ssthresh)
            case Kind.DUPLICATE:
                return Window(cwnd + segment, ssthresh)
            case Kind.PARTIAL:
                return Window(_deflated(cwnd, event), ssthresh)
            case Kind.RECOVERED:
                left = max(event.flight - event.acked_bytes, event.segment_size)
                return Window(min(ssthresh, of_bytes(left) + segment), ssthresh)
            case Kind.NONE | Kind.SENT:
                return self.window


def _deflated(cwnd: int, event: CongestionEvent) -> int:
    """RFC 6582 3.2 step 3: less what was acknowledged, one segment more if that was a segment at least."""
    deflated = max(cwnd - of_bytes(event.acked_bytes), 0)
    return deflated + (of_bytes(event.segment_size) if event.acked_bytes >= event.segment_size else 0)


def _envelope(window: Window, segment_size: int) -> Window:
    ceiling = of_bytes(MAXIMUM_WINDOW)
    return Window(
        cwnd=min(max(window.cwnd, of_bytes(segment_size)), ceiling),
        ssthresh=min(max(window.ssthresh, of_bytes(2 * segment_size)), ceiling),
    )
