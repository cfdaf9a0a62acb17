# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A sender of the golden models over a path without losses: the logistic window with K and A from streams of its own
probes."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field

from cocotb_tests.calculation.inline_path import ADJACENT, SEGMENT, Path
from sim.golden.calculation.inline_measurement import PROBES
from sim.golden.congestion.seam import CongestionEvent, Departure, Inline, Kind, Pace, ProbeAck, of_bytes
from sim.golden.congestion.startup.standard import POLICY as STANDARD
from sim.golden.congestion.steady.logistic import POLICY as LOGISTIC
from sim.golden.engine.inline_meter import InlineMeter
from sim.golden.window import CongestionState

LEAD = 4000  # ns
UNIT = 100_000  # ns that the estimator takes; a calculation likewise
NONE: dict[str, str | int] = {f"inline_{name}": 0 for name in ("updated", "opens", "forgets", "completes", "missed")}


@dataclass
class Probe:
    end: int
    begins: bool
    departure: int


@dataclass
class Sender:
    """`run` to a time in ns; `acks_every` segments the receiver acknowledges."""

    path: Path
    acks_every: int = 1
    now: int = 0
    state: CongestionState = field(default_factory=lambda: CongestionState(STANDARD, LOGISTIC))
    meter: InlineMeter = field(default_factory=InlineMeter)
    sent: int = 0  # segments
    acked: int = 0
    received: int = 0
    last: int = 0  # ns, the latest departure
    wire: float = 0.0
    probes: deque[Probe] = field(default_factory=deque)
    previous: tuple[int, int] | None = None  # departure and arrival of the probe before, if nothing came between
    in_stream: int = 0
    requested: int = 0
    events: list[tuple[int, int, str, int]] = field(default_factory=list)
    order: int = 0

    def later(self, time: float, kind: str, number: int = 0) -> None:
        self.order += 1
        heapq.heappush(self.events, (round(time), self.order, kind, number))

    def run(self, until: int) -> Inline:
        if self.now == 0:
            self._see(Kind.ESTABLISHED, given={"inline_opens": 1, "inline_updated": 1}, initial_window=10)
            self._send()
        while self.events and self.events[0][0] <= until:
            self.now, _, kind, number = heapq.heappop(self.events)
            match kind:
                case "ack":
                    self._acknowledge(number)
                case "measured":
                    self._see(Kind.MEASURED, arrives=True)
                case "calculated":
                    self._see(Kind.CALCULATED)
                case "sent":
                    pass
            self._send()
        return self.meter.result

    def _see(
        self,
        kind: Kind,
        given: dict[str, str | int] | None = None,
        probe: ProbeAck | None = None,
        arrives: bool = False,
        acked: int = 0,
        sent_probe: bool = False,
        initial_window: int = 0,
    ) -> None:
        event = CongestionEvent(
            kind,
            acked_bytes=acked * SEGMENT,
            flight=(self.sent - self.acked - (kind is Kind.SENT)) * SEGMENT,
            segment_size=SEGMENT,
            rtt_minimum=round(self.path.round_trip),
            initial_window=initial_window,
            initial_ssthresh=1 << 30,
            sent_probe=sent_probe,
            probe=probe,
            now=self.now,
        )
        row = {**NONE, **(given or {}), "event": "measured" if arrives else ""}
        waiting = len(self.meter._responses) - arrives
        self.meter.see(event, row)
        if len(self.meter._responses) > waiting:
            self.later(self.now + UNIT, "measured")
        event = CongestionEvent(**{**vars(event), "inline": self.meter.result})
        self._decide(event)

    def _decide(self, event: CongestionEvent) -> None:
        state = self.state
        before = CongestionEvent(
            **{
                **vars(event),
                "starting_up": state.window.cwnd < state.window.ssthresh,
                "calculating": state._under_way is not None,
                "calculated": state._under_way if event.kind is Kind.CALCULATED else None,
            }
        )
        response = state.steady.respond(before, state.window, state.steady_policy_state)
        requesting = response.calculation is not None and state._under_way is None and event.kind is not Kind.CALCULATED
        state.see(event, requested=requesting)
        if requesting:
            self.later(self.now + UNIT, "calculated")
        self.plan = response.departure or Departure()

    def _send(self) -> None:
        """All that may go now; its departures are booked one behind the other."""
        while True:
            cwnd, flight, plan = self.state.window.cwnd, self.sent - self.acked, self.plan
            free = cwnd - of_bytes(flight * SEGMENT)
            if free < of_bytes(max(1, plan.minimum_segments) * SEGMENT) and flight != 0:
                return
            if self.last > self.now:  # `sent` comes with the departure
                self.later(self.last, "sent")
                return
            time: float = self.now
            if plan.pace is Pace.APART:
                time = max(self.last + plan.time / 65536, self.now + LEAD)
            time = max(time, self.wire)
            self.wire, self.last = time + ADJACENT, round(time)
            self.sent += 1
            if plan.probe:
                self.probes.append(Probe(self.sent, plan.begins, self.last))
                self.in_stream = 1 if plan.begins else self.in_stream + (self.in_stream > 0)
            arrival = self.path.arrival(self.last)
            self.received += 1
            if self.received % self.acks_every == 0:
                self.later(arrival + self.path.round_trip, "ack", self.sent)
            completes = plan.probe and self.in_stream == PROBES
            given: dict[str, str | int] = {"inline_completes": 1, "inline_updated": 1} if completes else {}
            if completes:
                self.in_stream = 0
            self._see(Kind.SENT, given, sent_probe=plan.probe)

    def _acknowledge(self, number: int) -> None:
        acked, self.acked = number - self.acked, number
        missed = 0
        while self.probes and self.probes[0].end < number:
            self.probes.popleft()
            missed, self.previous = missed + 1, None
        response = None
        if self.probes and self.probes[0].end == number:
            probe, previous = self.probes.popleft(), self.previous
            gaps = (probe.departure - previous[0], self.now - previous[1]) if previous else (0, 0)
            response = ProbeAck(probe.begins, not probe.begins and previous is None, *gaps)
            self.previous = probe.departure, self.now
        else:
            self.previous = None
        while missed > 2:
            self._see(Kind.NONE, {"inline_missed": 2, "inline_updated": 1})
            missed -= 2
        given: dict[str, str | int] = {"inline_missed": missed, "inline_updated": int(bool(missed or response))}
        self._see(Kind.ACKNOWLEDGED, given, response, acked=acked)
