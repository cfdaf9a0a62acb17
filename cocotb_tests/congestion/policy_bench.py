# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Compares one policy's RTL with its golden model: the same random requests to both, the same bits from both."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

from cocotb_tests.bench import CLOCK_NS, Beat, StreamSink, StreamSource, draws, generator, start
from sim.golden.congestion.seam import (
    Calculated,
    Calculation,
    Calculator,
    CongestionEvent,
    DeliverySample,
    Departure,
    Inline,
    Kind,
    Policy,
    ProbeAck,
    Window,
    calculator_of,
    state_of,
)

# A request brings each of these both as zeros and as ones somewhere, and each kind either way
# (`_everything_was_asked`).
EXTREMES = {
    "event_ackedBytes": 32,
    "event_flight": 32,
    "event_rtt": 36,
    "event_rttMinimum": 36,
    "event_initialWindow": 8,
    "event_initialSsthresh": 32,
    "event_probe_departureGap": 36,
    "event_probe_arrivalGap": 36,
    "event_probe_roundTrip": 36,
    "event_arrival": 48,
    "event_rates_bwe": 32,
    "event_rates_ere": 32,
    "event_rates_sliding": 32,
    "delivery_interval": 36,
    "delivery_priorDelivered": 32,
    "event_inline_gap": 32,
    "event_inline_step": 32,
    "event_inline_capacity": 32,
    "event_inline_available": 32,
    "window_cwnd": 48,
    "window_ssthresh": 48,
    "now_ns": 48,
    "calculated_response": 64,
    "calculated_note": 48,
}

# `make policies` asks for more, and for figures: sim/bench/policies/requests.py.
REQUESTS = int(os.environ.get("POLICY_REQUESTS") or draws(5000, 50_000))
SURE = 2000  # so many requests have everything that they promise
FIGURES = os.environ.get("POLICY_FIGURES", "")
INPUT_REGISTER = 1  # clocks, of the bench's module


# Draws a policy state that is about to matter to this event: at a threshold, or one beside it.
NearWord = Callable[[random.Random, CongestionEvent, Window], int]
# Draws a window that is at a threshold of the policy's own, or beside it.
NearWindow = Callable[[random.Random, CongestionEvent], Window]


async def agrees_with_golden_model(
    dut: Any, policy: Policy, near: NearWord | None = None, near_window: NearWindow | None = None
) -> None:
    """Thousands of requests, one a clock, among them every kind and every field's extremes; half of the words by
    `near`, half of the windows by `near_window`."""
    source, sink, draw = StreamSource(dut, "request"), StreamSink(dut, "answer"), generator()
    await start(dut)
    expected, beats = [], []
    for _ in range(REQUESTS):
        event, window = _event(draw), _window(draw)
        if near_window and draw.random() < 0.5:
            window = near_window(draw, event)
        policy_state = (
            near(draw, event, window) if near and draw.random() < 0.5 else _bits(draw, state_of(policy).bits())
        )
        beats.append(_beat(event, window, policy_state, state_of(policy).bits()))
        source.put(beats[-1])
        result = policy.respond(event, window, policy_state)
        beat = {"window_cwnd": result.window.cwnd, "window_ssthresh": result.window.ssthresh}
        if state_of(policy).bits():
            beat["policyState"] = result.policy_state
        if result.departure is not None:
            beat |= _departure(result.departure)
        if getattr(policy, "bounds", False):
            beat |= {"bounded": int(result.bound is not None), "retreats": int(result.retreats)}
            beat["bound"] = result.bound or 0
        if calculator := calculator_of(policy):
            beat |= _calculation(result.calculation, calculator)
        expected.append((beat, event, window, policy_state))
    if REQUESTS >= SURE:
        _everything_was_drawn(beats, state_of(policy).bits())
    latency = await _latency(dut)
    await source.drained(10 * REQUESTS)
    wrong = []
    for beat, event, window, policy_state in expected:
        received = await sink.receive(100)
        if not received.get("bounded", 1):
            received["bound"] = 0  # means nothing
        if not received.get("calculation_valid", 1):
            received |= {"calculation_operands": 0, "calculation_note": 0}  # nothing is asked: these mean nothing
        if received != beat:
            wrong.append(Counterexample(str(event), f"{window}, policy_state {policy_state:#x}", beat, received))
    if FIGURES:
        figures: dict[str, Any] = {"requests": REQUESTS, "mismatches": len(wrong), "latency_clocks": latency}
        figures |= {"first": wrong[0].lines()} if wrong else {}
        Path(FIGURES).write_text(json.dumps(figures))
    assert not wrong, "\n".join([f"{len(wrong)} of {REQUESTS} answers differ; the first:", *wrong[0].lines()])


@dataclass(frozen=True)
class Counterexample:
    """A request whose answers differ."""

    event: str
    state: str
    expected: Beat
    got: Beat

    def lines(self) -> list[str]:
        """Event, state, and what the golden model and the RTL answer, without what they agree on."""
        differ = [name for name in self.expected | self.got if self.expected.get(name) != self.got.get(name)]
        return [
            f"  event     {self.event}",
            f"  state     {self.state}",
            *(f"  expected  {name} {_shown(name, self.expected.get(name))}" for name in differ),
            *(f"  got       {name} {_shown(name, self.got.get(name))}" for name in differ),
        ]


def _shown(name: str, value: int | None) -> str:
    """Bits, and bytes where they are a window's."""
    if value is None:
        return "nothing"
    return f"{value:#x} ({value / 65536:.10g} bytes)" if name.startswith("window_") else f"{value:#x}"


def _everything_was_drawn(beats: list[Beat], state_bits: int) -> None:
    """The draw has what it promises; the policy state's own thresholds are what `near` is for."""
    fields = EXTREMES | ({"policyState": state_bits} if state_bits else {})
    for name, bits in fields.items():
        seen = {beat[name] for beat in beats}
        assert {0, (1 << bits) - 1} <= seen, f"{name} was never at one of its ends"
    kinds = {(beat["event_kind"], beat["event_startingUp"]) for beat in beats}
    assert kinds == {(int(kind), starting_up) for kind in Kind for starting_up in (0, 1)}, "a kind was never asked"


async def _latency(dut: Any) -> int:
    """Clocks from the first request to its answer, as a stage of the engine has it."""
    await RisingEdge(dut.request_valid)
    requested = get_sim_time("ns")
    await RisingEdge(dut.answer_valid)
    return round((get_sim_time("ns") - requested) / CLOCK_NS) - INPUT_REGISTER


def _bits(draw: random.Random, bits: int) -> int:
    """All zeros, all ones, few bits, any bits."""
    if bits == 0:
        return 0
    return draw.choice([0, (1 << bits) - 1, draw.getrandbits(draw.randint(1, bits)), draw.getrandbits(bits)])


def _bytes(draw: random.Random, segment: int) -> int:
    """An amount of data: none, about some segments, any 32 bits."""
    near = draw.randrange(1, 100) * segment + draw.randint(-2, 2)
    return draw.choice([0, segment - 1, segment, segment + 1, near, near, _bits(draw, 32)]) % (1 << 32)


def _event(draw: random.Random) -> CongestionEvent:
    segment = draw.choice([64, 536, 1460, 9000, draw.randrange(64, 9001)])
    event = CongestionEvent(
        kind=draw.choice([*Kind, Kind.ACKNOWLEDGED, Kind.ACKNOWLEDGED, Kind.ACKNOWLEDGED]),
        starting_up=draw.random() < 0.3,
        acked_bytes=_bytes(draw, segment),
        uninflated=draw.random() < 0.5,
        recovering=draw.random() < 0.5,
        flight=_bytes(draw, segment),
        segment_size=segment,
        rtt=_bits(draw, 36) if draw.random() < 0.5 else None,
        rtt_first=draw.random() < 0.5,
        rtt_minimum=_bits(draw, 36),
        initial_window=_bits(draw, 8),
        initial_ssthresh=_bytes(draw, segment),
        sent_probe=draw.random() < 0.5,
        sent_ahead=draw.random() < 0.5,
        probe=_probe(draw) if draw.random() < 0.5 else None,
        arrival=_bits(draw, 48),
        repeated=draw.random() < 0.5,
        bwe=_bytes(draw, segment),
        ere=_bytes(draw, segment),
        sliding=_bytes(draw, segment),
        inline=Inline(
            draw.random() < 0.8,
            draw.random() < 0.5,
            *(_bits(draw, 32) for _ in ("gap", "step", "capacity", "available")),
        ),
        delivery=_delivery(draw, segment) if draw.random() < 0.5 else None,
        now=_bits(draw, 48),
        calculating=draw.random() < 0.3,
    )
    return _calculated(draw, event)


def _calculated(draw: random.Random, event: CongestionEvent) -> CongestionEvent:
    if event.kind is not Kind.CALCULATED:
        return event
    result = Calculated(_bits(draw, 64), _bits(draw, 48), draw.random() < 0.5, draw.random() < 0.3)
    return replace(event, calculated=result)


def _probe(draw: random.Random) -> ProbeAck:
    return ProbeAck(draw.random() < 0.5, draw.random() < 0.3, _bits(draw, 36), _bits(draw, 36), _bits(draw, 36))


def _delivery(draw: random.Random, segment: int) -> DeliverySample:
    volumes = (_bytes(draw, segment) for _ in range(4))
    in_flight = (_bytes(draw, segment) % (1 << 31) for _ in range(2))
    delivered, prior_delivered, lost, prior_lost = volumes
    bits = (draw.getrandbits(1) for _ in range(3))
    return DeliverySample(delivered, prior_delivered, _bits(draw, 36), lost, prior_lost, *in_flight, *bits)


def _departure(departure: Departure) -> Beat:
    return {
        "departure_pace": int(departure.pace),
        "departure_time": departure.time,
        "departure_burst": departure.burst,
        "departure_inverted": int(departure.inverted),
        "departure_minimumSegments": departure.minimum_segments,
        "departure_probe": int(departure.probe),
        "departure_begins": int(departure.begins),
    }


def _calculation(calculation: Calculation | None, calculator: Calculator) -> Beat:
    requested = calculation or Calculation(0)
    assert requested.request < 1 << calculator.request_bits
    return {
        "calculation_valid": int(calculation is not None),
        "calculation_operands": requested.request,
        "calculation_note": requested.note,
    }


def _window(draw: random.Random) -> Window:
    """Whole segments, small windows and any 48 bits."""
    small = draw.randrange(1 << 16, 1 << 34)
    return Window(draw.choice([small, _bits(draw, 48)]), draw.choice([small + 1, _bits(draw, 48)]))


def _beat(event: CongestionEvent, window: Window, policy_state: int, state_bits: int) -> Beat:
    delivery = event.delivery or DeliverySample()
    beat = {
        "event_kind": int(event.kind),
        "event_startingUp": int(event.starting_up),
        "event_ackedBytes": event.acked_bytes,
        "event_uninflated": int(event.uninflated),
        "event_recovering": int(event.recovering),
        "event_flight": event.flight,
        "event_segmentSize": event.segment_size,
        "event_rttValid": int(event.rtt is not None),
        "event_rtt": event.rtt or 0,
        "event_rttFull": (event.rtt or 0) & 1,  # no policy looks at it
        "event_rttFirst": int(event.rtt_first),
        "event_rttMinimum": event.rtt_minimum,
        "event_initialWindow": event.initial_window,
        "event_initialSsthresh": event.initial_ssthresh,
        "event_sentProbe": int(event.sent_probe),
        "event_sentAhead": int(event.sent_ahead),
        "event_probe_answered": int(event.probe is not None),
        "event_probe_begins": int((event.probe or ProbeAck()).begins),
        "event_probe_disturbed": int((event.probe or ProbeAck()).disturbed),
        "event_probe_departureGap": (event.probe or ProbeAck()).departure_gap,
        "event_probe_arrivalGap": (event.probe or ProbeAck()).arrival_gap,
        "event_probe_roundTrip": (event.probe or ProbeAck()).round_trip,
        "event_arrival": event.arrival,
        "event_repeated": int(event.repeated),
        "event_rates_bwe": event.bwe,
        "event_rates_ere": event.ere,
        "event_rates_sliding": event.sliding,
        "event_inline_valid": int(event.inline.valid),
        "event_inline_alternate": int(event.inline.alternate),
        "event_inline_gap": event.inline.gap,
        "event_inline_step": event.inline.step,
        "event_inline_capacity": event.inline.capacity,
        "event_inline_available": event.inline.available,
        "delivery_valid": int(event.delivery is not None),
        "delivery_delivered": delivery.delivered,
        "delivery_priorDelivered": delivery.prior_delivered,
        "delivery_interval": delivery.interval,
        "delivery_lost": delivery.lost,
        "delivery_priorLost": delivery.prior_lost,
        "delivery_txInFlight": delivery.tx_in_flight,
        "delivery_inFlight": delivery.in_flight,
        "delivery_appLimited": delivery.app_limited,
        "delivery_cwndLimited": delivery.cwnd_limited,
        "delivery_selective": delivery.selective,
        "window_cwnd": window.cwnd,
        "window_ssthresh": window.ssthresh,
        "now_ns": event.now,
        "calculating": int(event.calculating),
        "calculated_ofStartup": int((event.calculated or Calculated(0)).of_startup),
        "calculated_stale": int((event.calculated or Calculated(0)).stale),
        "calculated_response": (event.calculated or Calculated(0)).response,
        "calculated_note": (event.calculated or Calculated(0)).note,
    }
    return beat | ({"policyState": policy_state} if state_bits else {})
