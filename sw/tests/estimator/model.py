# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The golden model of the estimator: whole lists, scanned for each request. sw/estimator must answer the same.

Times in ns, windows in segments with 16 fraction bits.
"""

from __future__ import annotations

from downbeat_toe.estimator.binding import Address, Report, Request, Start
from downbeat_toe.estimator.structures import Cause, Method
from downbeat_toe.structures import Pace, Phase

from sw.tests.estimator import equations
from sw.tests.estimator.answers import Answers
from sw.tests.estimator.known import (
    LONGEST,
    SEGMENT,
    TICK,
    TICKS,
    Connection,
    Known,
    Prefix,
    Refusal,
    Saved,
    require,
    unicast,
)


class Model:
    """The library's calls: they change `known`, and `answers` reads it."""

    def __init__(self, **changed: int) -> None:
        self.known = Known(**changed)
        self.answers = Answers(self.known)
        self.refused = dict.fromkeys(Cause, 0)

    # ---- calls

    def open(self, now: int, name: int, remote: Address) -> Cause:
        return self._called(now, lambda: self._open(name, remote))

    def report(self, report: Report, now: int | None = None) -> Cause:
        return self._called(report.time if now is None else now, lambda: self._report(report))

    def close(self, now: int, name: int) -> Cause:
        return self._called(now, lambda: self._close(name))

    def transfer(
        self,
        now: int,
        remote: Address,
        window: int,
        round_trip: int,
        segments: int = 0,
        acks: int = 0,
        final: bool = False,
    ) -> Cause:
        return self._called(now, lambda: self._transfer(remote, window, round_trip, segments, acks, final))

    def request(self, now: int, request: Request, take: bool = False) -> tuple[Cause, Start]:
        self.known.now = max(self.known.now, now)
        initial = self.known.options["initial_window"]
        start = dict.fromkeys(Start.__dataclass_fields__, 0) | {"initial_window": initial}
        cause = self._called(now, lambda: self._check(request, take))
        if cause is Cause.NONE:
            found = self.answers.of(request)
            if found:
                until = min(self.known.now + self.known.options["hold"], found.pop("until", 1 << 64))
                start |= found | {"known": 1, "until": until}
            if found and take and request.method is Method.RESUME:
                self.known.saved[request.remote].user = request.connection
        values = start | {"method": request.method, "known": bool(start["known"]), "pace": Pace(start["pace"])}
        return cause, Start(**(values | {"reason": ""}))  # type: ignore[arg-type]

    def _called(self, now: int, call: object) -> Cause:
        self.known.now = max(self.known.now, now)
        try:
            call()  # type: ignore[operator]
        except Refusal as refusal:
            self.refused[refusal.cause] += 1
            return refusal.cause
        return Cause.NONE

    # ---- state that outlives a process

    def saved(self) -> list[str]:
        """Its lines: each ten seconds of a prefix, in any order, then saved parameters, the oldest first."""
        known, lines = self.known, []
        for key, prefix in known.prefixes.items():
            for tick in dict.fromkeys(each[0] for each in known.recent(prefix)):
                own = [each[1:] for each in prefix.spand if each[0] == tick]
                numbers = [known.now // TICK - tick, len(own), *map(sum, zip(*own, strict=True))]
                lines.append(" ".join(["spand", known.network(key), *map(str, numbers)]))
        for remote, saved in known.saved.items():
            if (age := known.now - saved.time) <= known.options["resume_lifetime"]:
                lines.append(f"resume {remote} {age} {saved.window} {saved.round_trip}")
        return lines

    def restarted(self, now: int, elapsed: int, networks: list[str]) -> Model:
        """Another process that has loaded what this one saved; of the networks in their order."""
        after = Model(**self.known.options)
        after.known.now = now
        ticks, moved = -(-elapsed // TICK), now // TICK - self.known.now // TICK
        keys = {self.known.network(key): key for key in self.known.prefixes}
        for key in dict.fromkeys(keys[network] for network in networks):
            for tick, *numbers in self.known.recent(self.known.prefixes[key]):
                if self.known.now // TICK - tick + ticks < TICKS and tick + moved - ticks >= 0:
                    place = after.known.prefixes.setdefault(key, Prefix())
                    place.spand.append((tick + moved - ticks, *numbers))  # type: ignore[arg-type]
        for remote, saved in self.known.saved.items():
            age = self.known.now - saved.time + elapsed
            if age <= self.known.options["resume_lifetime"] and age <= now:
                after.known.saved[remote] = Saved(now - age, saved.window, saved.round_trip)
        return after

    # ---- reports

    def _open(self, name: int, remote: Address) -> None:
        require(name != 0, Cause.UNKNOWN)
        require(unicast(remote), Cause.ADDRESS)
        require(name not in self.known.connections, Cause.DUPLICATE)
        require(len(self.known.connections) < self.known.options["connections"], Cause.FULL)
        prefix = self.known.prefix(remote)
        made = Connection(name, remote, self.known.now, time=self.known.now, round_began=self.known.now)
        prefix.connections.append(made)
        self.known.connections[name] = made

    def _close(self, name: int) -> None:
        require(name in self.known.connections, Cause.UNKNOWN)
        own = self.known.connections.pop(name)
        self._end(own, own.time)
        saved = self.known.saved.get(own.remote)
        if saved and saved.user == name:
            saved.user = 0
        key = self.known.key(own.remote)
        self.known.prefixes[key].connections.remove(own)
        if not self.known.prefixes[key].connections:
            self.known.prefixes[key] = self.known.prefixes.pop(key)

    def _transfer(self, remote: Address, window: int, rtt: int, segments: int, acks: int, final: bool) -> None:
        require(unicast(remote), Cause.ADDRESS)
        require(0 < window <= self.known.options["maximum_window"] << 8, Cause.WINDOW)
        require(0 < rtt <= LONGEST, Cause.ROUND_TRIP)
        require(acks <= segments < 1 << 32, Cause.COUNTER)
        self._add(self.known.prefix(remote), (self.known.now // TICK, window, rtt, segments, acks), final)

    def _report(self, report: Report) -> None:
        self._check_report(report)
        own = self.known.connections[report.connection]
        prefix = self.known.prefixes[self.known.key(own.remote)]
        lost, restarted = (report.losses - own.losses) % 256, report.restarts != own.restarts
        own.round_trip = report.smoothed_rtt
        if lost:
            own.losses, own.lost = report.losses, True
            own.drops.add(report.loss_time, lost, self.known.options["miss_weight"])
            if not prefix.drops.count or report.loss_time - prefix.drops.last >= own.round_trip:
                prefix.drops.add(report.loss_time, lost, self.known.options["miss_weight"])
            if report.loss_in_avoidance:
                own.segment_size = report.segment_size
                window = max((report.loss_window << 8) // report.segment_size - 256, 256)
                self._give(own, report.time, window, final=False)
        if restarted:
            self._end(own, report.time)
            own.restarts, own.transfer_acked = report.restarts, report.acked
        recovers = report.phase == Phase.RECOVERY
        before, own.window = own.window, ((report.ssthresh if recovers else report.cwnd) << 16) // report.segment_size
        own.steady, own.segment_size, own.touched = report.phase != Phase.STARTUP, report.segment_size, self.known.now
        grown = (report.loss_window << 16) // report.segment_size if lost else own.window
        if report.average_window:
            own.average = report.average_window // report.segment_size
        elif own.average:
            own.average = equations.awnd_together(own.average, (before + grown) // 2, report.acks - own.acks)
        if own.steady and own.average == 0:
            own.average = own.window
        self._round(own, report, bool(lost or restarted or recovers))
        own.acked, own.acks, own.time, own.growth = report.acked, report.acks, report.time, report.growth

    def _check_report(self, report: Report) -> None:
        most = self.known.options["maximum_window"] * report.segment_size
        require(report.time <= self.known.now, Cause.FUTURE)
        require(report.connection in self.known.connections, Cause.UNKNOWN)
        own = self.known.connections[report.connection]
        require(report.time >= own.time and self.known.now - report.time <= self.known.options["live"], Cause.STALE)
        require(report.remote == own.remote, Cause.OTHER_PATH)
        require(report.segment_size >= SEGMENT, Cause.SEGMENT)
        require(report.phase <= 2, Cause.PHASE)
        window = report.ssthresh if report.phase == Phase.RECOVERY else report.cwnd
        require(0 < window <= most and report.average_window >> 16 <= most and report.growth <= 15, Cause.WINDOW)
        require(report.smallest_rtt <= report.smoothed_rtt <= LONGEST, Cause.ROUND_TRIP)
        if report.losses != own.losses:
            earliest = own.drops.last if own.drops.count else own.opened
            require(earliest <= report.loss_time <= report.time, Cause.LOSS)
            require(0 < report.loss_window <= most, Cause.WINDOW)
            require(report.loss_in_avoidance <= 1, Cause.LOSS)
        acked = report.acked - own.acked
        require(acked >= 0 and 0 <= report.acks - own.acks <= acked, Cause.COUNTER)
        require(acked <= most or (acked - most) // 125 <= report.time - own.time, Cause.COUNTER)

    def _round(self, own: Connection, report: Report, disturbed: bool) -> None:
        if report.retreats != own.retreats:
            own.retreats, disturbed = report.retreats, True
            self.known.saved.pop(report.remote, None)
        elapsed = report.time - own.round_began
        if disturbed:
            own.delivered = 0
        elif report.smoothed_rtt == 0 or elapsed < report.smoothed_rtt:
            return
        else:
            acked = report.acked - own.round_acked
            delivered = min(acked * report.smoothed_rtt // elapsed, report.cwnd)
            least = 4 * self.known.options["initial_window"] * report.segment_size
            if delivered >= max(least, own.delivered):
                own.delivered = delivered
                self.known.save(report.remote, report.time, delivered, report.smallest_rtt or report.smoothed_rtt)
        own.round_began, own.round_acked = report.time, report.acked

    def _end(self, own: Connection, time: int) -> None:
        if not own.lost and own.window and own.acked > own.transfer_acked:
            self._give(own, time, (own.window >> 8) + 16 * own.growth, final=True)
        own.lost = False

    def _give(self, own: Connection, time: int, window: int, final: bool) -> None:
        if own.round_trip == 0:
            return
        segments, acks = -(-(own.acked - own.spand_acked) // own.segment_size), own.acks - own.spand_acks
        if not acks <= segments < 1 << 32:
            segments = acks = 0
        prefix = self.known.prefixes[self.known.key(own.remote)]
        self._add(prefix, (time // TICK, window, own.round_trip, segments, acks), final)
        own.spand_acked, own.spand_acks = own.acked, own.acks

    def _add(self, prefix: Prefix, report: tuple[int, int, int, int, int], final: bool) -> None:
        recent = self.known.recent(prefix)
        bound = final and self.known.options["spand_lower_bound"] and recent
        if bound and report[1] < sum(each[1] for each in recent) // len(recent):
            return
        prefix.spand = [*recent, report]

    # ---- requests

    def _check(self, request: Request, take: bool) -> None:
        require(unicast(request.remote), Cause.ADDRESS)
        require(request.segment_size >= SEGMENT, Cause.SEGMENT)
        require(request.round_trip <= LONGEST, Cause.ROUND_TRIP)
        if request.connection:
            require(request.connection in self.known.connections, Cause.UNKNOWN)
            require(self.known.connections[request.connection].remote == request.remote, Cause.OTHER_PATH)
        require(not (take and request.method is Method.RESUME) or request.connection != 0, Cause.UNKNOWN)
