# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Responses of the estimator's golden model, by method."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from downbeat_toe.estimator.binding import Request
from downbeat_toe.estimator.structures import Method
from downbeat_toe.structures import Pace

from sw.tests.estimator import equations
from sw.tests.estimator.known import Connection, Known, Prefix


@dataclass
class Sight:
    """What one who asks sees of a prefix."""

    steady: list[Connection]
    starting_sum: int
    prefix: Prefix


class Answers:
    """Each gives the fields of a start that differ from the standard one; None: nothing is known."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def of(self, request: Request) -> dict[str, int] | None:
        methods = {Method.LISS: self._liss, Method.ISS: self._liss, Method.MISS: self._miss, Method.JS: self._js}
        methods |= {Method.SPAND: self._spand, Method.RESUME: self._resume}
        return methods[request.method](request)

    def _sight(self, request: Request) -> Sight | None:
        prefix = self.known.prefixes.get(self.known.key(request.remote))
        if prefix is None:
            return None
        since = self.known.now - self.known.options["live"]
        live = [each for each in prefix.connections if each.touched is not None and each.touched >= since]
        others = [each for each in live if each.name != request.connection]
        starting = sum(each.window for each in others if not each.steady)
        return Sight([each for each in others if each.steady], starting, prefix)

    def _liss(self, request: Request) -> dict[str, int] | None:
        sight = self._sight(request)
        if sight is None or not sight.steady:
            return None
        oldest = sight.steady[0].average if request.method is Method.ISS else sight.steady[0].window
        share = equations.liss_whole(sight.starting_sum, len(sight.steady), oldest)
        bounded = min(max(share, 2 << 16), self.known.options["maximum_window"] << 16)
        round_trip = request.round_trip or sight.steady[0].round_trip
        return {"ssthresh": bounded * request.segment_size >> 16, "round_trip": round_trip}

    def _miss(self, request: Request) -> dict[str, int] | None:
        start, sight = self._liss(request), self._sight(request)
        if start is None or sight is None:
            return None
        gamma, delta, last = sight.steady[0].drops.interval, sight.prefix.drops.interval, sight.prefix.drops.last
        elapsed = max(0, self.known.now - last)
        if gamma == 0 or delta <= elapsed:
            return start
        initial, cap = self.known.options["initial_window"], self.known.options["maximum_window"]
        if self.known.options["cap_to_known"]:
            known = sight.starting_sum + len(sight.steady) * sight.steady[0].window
            cap = min(cap, max(known >> 16, initial))
        rate = min((gamma << 8) // delta, (1 << 24) - 1)
        return start | {"miss_rate": rate, "miss_next": last + delta, "miss_cap": cap}

    def _js(self, request: Request) -> dict[str, int] | None:
        start = self._liss(request)
        if start is None:
            return None
        window = max(1, start["ssthresh"] // request.segment_size)
        return start | {"initial_window": window, "pace": Pace.EVEN, "gap": start["round_trip"] // window}

    def _spand(self, request: Request) -> dict[str, int] | None:
        sight = self._sight(request)
        recent = self.known.recent(sight.prefix) if sight else []
        if len(recent) < self.known.options["spand_reports"]:
            return None
        window = min(
            max((sum(each[1] for each in recent) // len(recent)) >> 8, 1), self.known.options["maximum_window"]
        )
        segments, acks = sum(each[3] for each in recent), sum(each[4] for each in recent)
        ratio = min(max(Fraction((segments << 8) // acks, 256) if acks else Fraction(2), Fraction(1)), Fraction(64))
        count = -(-request.transfer_bytes // request.segment_size)
        initial = equations.spand(count, window, ratio, bool(self.known.options["spand_shift"]))
        round_trip = request.round_trip or sum(each[2] for each in recent) // len(recent)
        start = {"initial_window": initial, "ssthresh": initial * request.segment_size, "round_trip": round_trip}
        return start | {"pace": Pace.BUCKET, "gap": round_trip // initial}

    def _resume(self, request: Request) -> dict[str, int] | None:
        saved = self.known.saved.get(request.remote)
        if saved is None:
            return None
        if max(0, self.known.now - saved.time) > self.known.options["resume_lifetime"]:
            del self.known.saved[request.remote]
            return None
        if saved.user and saved.user != request.connection and saved.user in self.known.connections:
            return None
        most = (
            min(self.known.options["resume_maximum_jump"], self.known.options["maximum_window"]) * request.segment_size
        )
        jump = min(saved.window // 2, most)
        if jump <= self.known.options["initial_window"] * request.segment_size:
            return None
        start = {
            "saved_window": saved.window,
            "saved_rtt": saved.round_trip,
            "round_trip": saved.round_trip,
            "jump": jump,
        }
        return start | {"until": saved.time + self.known.options["resume_lifetime"]}
