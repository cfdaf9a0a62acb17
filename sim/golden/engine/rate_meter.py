# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The messages to the rate estimator about a connection's ACKs, as rtl/downbeat/engine/measure/RateMeter.scala.

A connection with no policy that reads the estimates asks for none. A duplicate ACK counts SMSS, which is then
unaccounted; an ACK of more than SMSS counts less by that. What finds no space in the estimator's queue joins the next
ACK that does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from sim.golden.calculation.rate_estimate import MAX, Estimator, Request, Response
from sim.golden.congestion.seam import FRACTION_BITS, CongestionEvent, Window, wrap


@dataclass
class RateMeter:
    """One connection's; `see` takes it through one event."""

    rates: Response = field(default_factory=Response)
    _unit: Estimator = field(default_factory=Estimator)
    _begun: bool = False
    _unaccounted: int = 0  # bytes
    _waiting: int = 0  # bytes
    _rtt: int = 0  # ns
    _responses: deque[int] = field(default_factory=deque)

    def see(
        self,
        event: CongestionEvent,
        window: Window,
        *,
        taken: bool,
        wanted: bool = True,
        established: bool = False,
        arrives: bool = False,
    ) -> None:
        """`window` is the one before; `taken`: the estimator took the event; `wanted`: a policy that the connection had
        before reads the estimates; `arrives`: it is a response."""
        if established:
            self._begun, self._unaccounted, self._waiting, self.rates = False, 0, 0, Response()
        if event.rtt is not None:
            self._rtt = min(event.rtt, MAX)
        requesting = wanted and (established or event.acked_bytes > 0 or event.repeated)
        if not established:
            self._waiting = wrap(self._waiting + self._counted(event), 32)
        if taken:
            if not requesting:
                raise ValueError("the core asked the rate estimator, the golden model does not")
            self._request(event, window)
        if arrives:
            self.rates = Response.unpacked(self._responses.popleft())
        if not wanted:
            self._begun, self._waiting, self.rates = False, 0, Response()

    def _counted(self, event: CongestionEvent) -> int:
        """Bytes, in ns-2's order."""
        acked, segment = event.acked_bytes, event.segment_size
        if acked == 0:
            self._unaccounted = wrap(self._unaccounted + (segment if event.repeated else 0), 32)
            return segment if event.repeated else 0
        if acked <= segment:
            return acked
        if self._unaccounted >= acked:
            self._unaccounted -= acked
            return segment
        counted, self._unaccounted = acked - self._unaccounted, 0
        return counted

    def _request(self, event: CongestionEvent, window: Window) -> None:
        request = Request(
            begins=not self._begun,
            time=event.arrival,
            acked=self._waiting,
            rtt=self._rtt,
            rtt_minimum=min(event.rtt_minimum, MAX),
            cwnd=window.cwnd >> FRACTION_BITS,
        )
        self._responses.append(self._unit.response(request.packed()))
        self._begun, self._waiting = True, 0
