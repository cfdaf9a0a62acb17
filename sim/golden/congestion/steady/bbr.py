# SPDX-License-Identifier: BSD-2-Clause-Patent
"""BBR (draft-ietf-ccwg-bbr, version 3), as rtl/downbeat/congestion/steady/Bbr.scala.

The unit keeps the model of the path (sim/golden/congestion/bbr/model.py). The policy requests an update for an ACK with
a sample of the delivery rate, and sets cwnd = ssthresh and the spacing by the response. It cuts no window: a loss leaves
ssthresh = cwnd. In recovery a response is for ssthresh alone. One to a request from before a timeout leaves the windows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.bbr.model import CALCULATOR, BbrModel
from sim.golden.congestion.bbr.request import NO_RTT, VOLUME_BITS, Request, Response
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import (
    FRACTION_BITS,
    Calculation,
    CongestionEvent,
    Departure,
    Kind,
    Pace,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)


@dataclass(frozen=True)
class BbrState(PackedFields):
    """The policy state, lowest field first."""

    opens: int = 0  # the first four: since the last request that was taken
    undone: int = 0
    timed_out: int = 0
    restarted: int = 0
    known: int = 0  # there has been a response
    mantissa: int = 0  # ns per byte with 32 fraction bits: mantissa x 2^exponent
    exponent: int = 0

    FIELDS = (
        ("opens", 1),
        ("undone", 1),
        ("timed_out", 1),
        ("restarted", 1),
        ("known", 1),
        ("mantissa", 25),
        ("exponent", 5),
    )

    @property
    def reported(self) -> int:
        """The flags that a request reports and its response brings back."""
        return self.opens << 3 | self.undone << 2 | self.timed_out << 1 | self.restarted


@dataclass(frozen=True)
class Bbr:
    name: str = "bbr"
    state: type[PackedFields] = BbrState
    calculator: BbrModel = CALCULATOR
    models_path: bool = True

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        state = BbrState.unpacked(policy_state)
        before = window
        match event.kind:
            case Kind.ESTABLISHED:
                state = BbrState(opens=1)
            case Kind.LOSS:
                window = replace(window, ssthresh=window.cwnd)
            case Kind.TIMEOUT:
                state, window = replace(state, timed_out=1), replace(window, ssthresh=window.cwnd)
            case Kind.TIMEOUT_AGAIN:
                state = replace(state, timed_out=1)
            case Kind.UNDONE:
                state = replace(state, undone=1)
            case Kind.RESTART:
                state = replace(state, restarted=1)
            case Kind.CALCULATED if event.calculated is not None and not event.calculated.of_startup:
                response, reported = Response.unpacked(event.calculated.response), event.calculated.note
                state = _without(state, reported, response)
                if not state.timed_out:  # otherwise the request is from before a timeout
                    cwnd = window.cwnd if event.recovering else of_bytes(response.cwnd)
                    window = Window(cwnd, of_bytes(response.cwnd))
            case _:
                pass
        departure = Departure(Pace.SPACED, state.mantissa << state.exponent) if state.known else Departure()
        return PolicyResult(window, state.packed(), departure, _calculation(event, before, state))


def _without(state: BbrState, reported: int, response: Response) -> BbrState:
    left = BbrState(
        opens=state.opens & ~(reported >> 3) & 1,
        undone=state.undone & ~(reported >> 2) & 1,
        timed_out=state.timed_out & ~(reported >> 1) & 1,
        restarted=state.restarted & ~reported & 1,
    )
    return replace(left, known=1, mantissa=response.mantissa, exponent=response.exponent)


def _calculation(event: CongestionEvent, window: Window, state: BbrState) -> Calculation | None:
    sample = event.delivery
    if sample is None or event.calculating or event.kind is Kind.CALCULATED:
        return None
    request = Request(
        opens=state.opens,
        undone=state.undone,
        timed_out=state.timed_out,
        restarted=state.restarted,
        recovering=event.recovering,
        selective=sample.selective,
        cwnd_limited=sample.cwnd_limited,
        app_limited=sample.app_limited,
        initial_window=event.initial_window,
        segment_size=event.segment_size,
        delivered=sample.delivered,
        prior_delivered=sample.prior_delivered,
        interval=sample.interval,
        lost=sample.lost,
        prior_lost=sample.prior_lost,
        tx_in_flight=sample.tx_in_flight,
        in_flight=sample.in_flight,
        cwnd=wrap((window.ssthresh if event.recovering else window.cwnd) >> FRACTION_BITS, VOLUME_BITS),
        rtt=NO_RTT if event.rtt is None else event.rtt,
        now=event.now,
    )
    return Calculation(request.packed(), state.reported)


POLICY = Bbr()
