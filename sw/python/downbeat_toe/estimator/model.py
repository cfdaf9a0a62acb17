# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The golden model of the estimator: whole lists, scanned for each question. sw/estimator must answer the same.

It has no indices, no sums kept from call to call and no expiry list; times in ns, windows in segments with 16 fraction
bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from ipaddress import IPv6Address

from downbeat_toe.estimator import equations
from downbeat_toe.estimator.binding import Address, Question, Report, Start
from downbeat_toe.estimator.structures import Cause, Method, Pace, Phase

TICK, TICKS = 10_000_000_000, 30
LONGEST = 60_000_000_000
SEGMENT = 64
DEFAULTS = {
    "prefixes": 25_000,
    "connections": 65_536,
    "endpoints": 65_536,
    "prefix_bits": 24,
    "prefix_bits_v6": 64,
    "initial_window": 10,
    "maximum_window": 65_535,
    "cap_to_known": 1,
    "miss_weight": 2,
    "spand_reports": 1,
    "spand_shift": 1,
    "spand_lower_bound": 0,
    "resume_maximum_jump": 65_535,
    "live": 60 * 10**9,
    "hold": 10**9,
    "resume_lifetime": 3600 * 10**9,
}


class Refusal(Exception):
    def __init__(self, cause: Cause) -> None:
        self.cause = cause


def require(condition: bool, cause: Cause) -> None:
    if not condition:
        raise Refusal(cause)


@dataclass
class Drops:
    last: int = 0
    interval: int = 0
    count: int = 0

    def add(self, time: int, more: int, thirds: int) -> None:
        if self.count == 0:
            self.last, self.count = time, 1
            return
        sample = max(0, time - self.last) // more
        for step in range(min(more, 16)):
            self.interval = equations.smoothed_whole(self.interval, self.count - 1 + step, sample, thirds)
        self.count += more
        self.last = max(self.last, time)


@dataclass
class Connection:
    name: int
    remote: Address
    opened: int
    time: int = 0
    touched: int | None = None
    steady: bool = False
    window: int = 0
    average: int = 0
    round_trip: int = 0
    segment_size: int = 0
    losses: int = 0
    restarts: int = 0
    retreats: int = 0
    lost: bool = False
    drops: Drops = field(default_factory=Drops)
    acked: int = 0
    acks: int = 0
    spand_acked: int = 0
    spand_acks: int = 0
    transfer_acked: int = 0
    round_began: int = 0
    round_acked: int = 0
    delivered: int = 0


@dataclass
class Prefix:
    connections: list[Connection] = field(default_factory=list)  # in the order of their opens
    drops: Drops = field(default_factory=Drops)
    spand: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # tick, window, rtt, segments, acks


@dataclass
class Saved:
    time: int
    window: int
    round_trip: int
    user: int = 0


@dataclass
class Sight:
    """What one who asks sees of a prefix."""

    steady: list[Connection]
    starting_sum: int
    prefix: Prefix


class Model:
    def __init__(self, **changed: int) -> None:
        self.options = DEFAULTS | changed
        self.now = 0
        self.refused = dict.fromkeys(Cause, 0)
        self.connections: dict[int, Connection] = {}
        self.prefixes: dict[str, Prefix] = {}  # those without connections in the order in which they lost the last
        self.saved: dict[Address, Saved] = {}  # in the order of their measures

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

    def ask(self, now: int, question: Question, take: bool = False) -> tuple[Cause, Start]:
        self.now = max(self.now, now)
        initial = self.options["initial_window"]
        start = dict.fromkeys(Start.__dataclass_fields__, 0) | {"initial_window": initial}
        cause = self._called(now, lambda: self._check(question, take))
        if cause is Cause.NONE:
            answers = {Method.LISS: self._liss, Method.ISS: self._liss, Method.MISS: self._miss, Method.JS: self._js}
            answers |= {Method.SPAND: self._spand, Method.RESUME: self._resume}
            found = answers[question.method](question)
            if found:
                until = min(self.now + self.options["hold"], found.pop("until", 1 << 64))
                start |= found | {"known": 1, "until": until}
            if found and take and question.method is Method.RESUME:
                self.saved[question.remote].user = question.connection
        values = start | {"method": question.method, "known": bool(start["known"]), "pace": Pace(start["pace"])}
        return cause, Start(**(values | {"reason": ""}))  # type: ignore[arg-type]

    def _called(self, now: int, call: object) -> Cause:
        self.now = max(self.now, now)
        try:
            call()  # type: ignore[operator]
        except Refusal as refusal:
            self.refused[refusal.cause] += 1
            return refusal.cause
        return Cause.NONE

    # ---- what is told

    def _key(self, remote: Address) -> str:
        v6 = remote.version == 6
        bits = self.options["prefix_bits_v6" if v6 else "prefix_bits"]
        length = 128 if v6 else 32
        return f"{remote.version} {int(remote) >> (length - bits)}"

    def _prefix(self, remote: Address) -> Prefix:
        key = self._key(remote)
        if key not in self.prefixes:
            if len(self.prefixes) == self.options["prefixes"]:
                idle = next((each for each, prefix in self.prefixes.items() if not prefix.connections), None)
                require(idle is not None, Cause.FULL)
                del self.prefixes[str(idle)]
            self.prefixes[key] = Prefix()
        return self.prefixes[key]

    def _open(self, name: int, remote: Address) -> None:
        require(name != 0, Cause.UNKNOWN)
        require(unicast(remote), Cause.ADDRESS)
        require(name not in self.connections, Cause.DUPLICATE)
        require(len(self.connections) < self.options["connections"], Cause.FULL)
        prefix = self._prefix(remote)
        made = Connection(name, remote, self.now, time=self.now, round_began=self.now)
        prefix.connections.append(made)
        self.connections[name] = made

    def _close(self, name: int) -> None:
        require(name in self.connections, Cause.UNKNOWN)
        own = self.connections.pop(name)
        self._end(own, own.time)
        saved = self.saved.get(own.remote)
        if saved and saved.user == name:
            saved.user = 0
        key = self._key(own.remote)
        self.prefixes[key].connections.remove(own)
        if not self.prefixes[key].connections:
            self.prefixes[key] = self.prefixes.pop(key)

    def _transfer(self, remote: Address, window: int, rtt: int, segments: int, acks: int, final: bool) -> None:
        require(unicast(remote), Cause.ADDRESS)
        require(0 < window <= self.options["maximum_window"] << 8, Cause.WINDOW)
        require(0 < rtt <= LONGEST, Cause.ROUND_TRIP)
        require(acks <= segments < 1 << 32, Cause.COUNTER)
        self._add(self._prefix(remote), (self.now // TICK, window, rtt, segments, acks), final)

    def _report(self, report: Report) -> None:
        self._check_report(report)
        own = self.connections[report.connection]
        prefix = self.prefixes[self._key(own.remote)]
        lost, restarted = (report.losses - own.losses) % 256, report.restarts != own.restarts
        own.round_trip = report.smoothed_rtt
        if lost:
            own.losses, own.lost = report.losses, True
            for drops in (own.drops, prefix.drops):
                drops.add(report.loss_time, lost, self.options["miss_weight"])
            if report.loss_in_avoidance:
                own.segment_size = report.segment_size
                window = max((report.loss_cwnd << 8) // report.segment_size - 256, 256)
                self._give(own, report.time, window, final=False)
        if restarted:
            self._end(own, report.time)
            own.restarts, own.transfer_acked = report.restarts, report.acked_bytes
        recovers = report.phase == Phase.RECOVERY
        before, own.window = own.window, ((report.ssthresh if recovers else report.cwnd) << 16) // report.segment_size
        own.steady, own.segment_size, own.touched = report.phase != Phase.STARTUP, report.segment_size, self.now
        grown = (report.loss_cwnd << 16) // report.segment_size if lost else own.window
        if report.awnd:
            own.average = report.awnd // report.segment_size
        elif own.average:
            own.average = equations.awnd_together(own.average, (before + grown) // 2, report.acks - own.acks)
        if own.steady and own.average == 0:
            own.average = own.window
        self._round(own, report, bool(lost or restarted or recovers))
        own.acked, own.acks, own.time = report.acked_bytes, report.acks, report.time

    def _check_report(self, report: Report) -> None:
        most = self.options["maximum_window"] * report.segment_size
        require(report.time <= self.now, Cause.FUTURE)
        require(report.connection in self.connections, Cause.UNKNOWN)
        own = self.connections[report.connection]
        require(report.time >= own.time and self.now - report.time <= self.options["live"], Cause.STALE)
        require(report.remote == own.remote, Cause.OTHER_PATH)
        require(report.segment_size >= SEGMENT, Cause.SEGMENT)
        require(report.phase <= 2, Cause.PHASE)
        window = report.ssthresh if report.phase == Phase.RECOVERY else report.cwnd
        require(0 < window <= most and report.awnd >> 16 <= most, Cause.WINDOW)
        require(report.smallest_rtt <= report.smoothed_rtt <= LONGEST, Cause.ROUND_TRIP)
        if report.losses != own.losses:
            earliest = own.drops.last if own.drops.count else own.opened
            require(earliest <= report.loss_time <= report.time, Cause.LOSS)
            require(0 < report.loss_cwnd <= most, Cause.WINDOW)
            require(report.loss_in_avoidance <= 1, Cause.LOSS)
        acked = report.acked_bytes - own.acked
        require(acked >= 0 and 0 <= report.acks - own.acks <= acked, Cause.COUNTER)
        require(acked <= most or (acked - most) // 125 <= report.time - own.time, Cause.COUNTER)

    def _round(self, own: Connection, report: Report, disturbed: bool) -> None:
        if report.retreats != own.retreats:
            own.retreats, disturbed = report.retreats, True
            self.saved.pop(report.remote, None)
        elapsed = report.time - own.round_began
        if disturbed:
            own.delivered = 0
        elif report.smoothed_rtt == 0 or elapsed < report.smoothed_rtt:
            return
        else:
            acked = report.acked_bytes - own.round_acked
            delivered = min(acked * report.smoothed_rtt // elapsed, report.cwnd)
            least = 4 * self.options["initial_window"] * report.segment_size
            if delivered >= max(least, own.delivered):
                own.delivered = delivered
                self._save(report.remote, report.time, delivered, report.smallest_rtt or report.smoothed_rtt)
        own.round_began, own.round_acked = report.time, report.acked_bytes

    def _save(self, remote: Address, time: int, window: int, round_trip: int) -> None:
        before = self.saved.pop(remote, None)
        if before is None and len(self.saved) == self.options["endpoints"]:
            del self.saved[next(iter(self.saved))]
        self.saved[remote] = Saved(time, window, round_trip, before.user if before else 0)

    def _end(self, own: Connection, time: int) -> None:
        if not own.lost and own.window and own.acked > own.transfer_acked:
            self._give(own, time, own.window >> 8, final=True)
        own.lost = False

    def _give(self, own: Connection, time: int, window: int, final: bool) -> None:
        if own.round_trip == 0:
            return
        segments, acks = (own.acked - own.spand_acked) // own.segment_size, own.acks - own.spand_acks
        if not acks <= segments < 1 << 32:
            segments = acks = 0
        prefix = self.prefixes[self._key(own.remote)]
        self._add(prefix, (time // TICK, window, own.round_trip, segments, acks), final)
        own.spand_acked, own.spand_acks = own.acked, own.acks

    def _add(self, prefix: Prefix, report: tuple[int, int, int, int, int], final: bool) -> None:
        recent = self._recent(prefix)
        bound = final and self.options["spand_lower_bound"] and recent
        if bound and report[1] < sum(each[1] for each in recent) // len(recent):
            return
        prefix.spand = [*recent, report]

    def _recent(self, prefix: Prefix) -> list[tuple[int, int, int, int, int]]:
        return [each for each in prefix.spand if self.now // TICK - each[0] < TICKS]

    # ---- what is asked

    def _check(self, question: Question, take: bool) -> None:
        require(unicast(question.remote), Cause.ADDRESS)
        require(question.segment_size >= SEGMENT, Cause.SEGMENT)
        require(question.round_trip <= LONGEST, Cause.ROUND_TRIP)
        if question.connection:
            require(question.connection in self.connections, Cause.UNKNOWN)
            require(self.connections[question.connection].remote == question.remote, Cause.OTHER_PATH)
        require(not (take and question.method is Method.RESUME) or question.connection != 0, Cause.UNKNOWN)

    def sight(self, question: Question) -> Sight | None:
        prefix = self.prefixes.get(self._key(question.remote))
        if prefix is None:
            return None
        since = self.now - self.options["live"]
        live = [each for each in prefix.connections if each.touched is not None and each.touched >= since]
        others = [each for each in live if each.name != question.connection]
        starting = sum(each.window for each in others if not each.steady)
        return Sight([each for each in others if each.steady], starting, prefix)

    def _liss(self, question: Question) -> dict[str, int] | None:
        sight = self.sight(question)
        if sight is None or not sight.steady:
            return None
        oldest = sight.steady[0].average if question.method is Method.ISS else sight.steady[0].window
        share = equations.liss_whole(sight.starting_sum, len(sight.steady), oldest)
        bounded = min(max(share, 2 << 16), self.options["maximum_window"] << 16)
        return {"ssthresh": bounded * question.segment_size >> 16}

    def _miss(self, question: Question) -> dict[str, int] | None:
        start, sight = self._liss(question), self.sight(question)
        if start is None or sight is None:
            return None
        gamma, delta, last = sight.steady[0].drops.interval, sight.prefix.drops.interval, sight.prefix.drops.last
        elapsed = max(0, self.now - last)
        if gamma == 0 or delta <= elapsed:
            return start
        initial, cap = self.options["initial_window"], self.options["maximum_window"]
        if self.options["cap_to_known"]:
            known = sight.starting_sum + len(sight.steady) * sight.steady[0].window
            cap = min(cap, max(known >> 16, initial))
        start |= {"miss_rate": min((gamma << 8) // delta, (1 << 24) - 1), "miss_next": last + delta, "miss_cap": cap}
        start["until"] = last + delta
        round_trip = question.round_trip or sight.steady[0].round_trip
        window = min(equations.miss_whole(gamma, delta, elapsed, round_trip), cap)
        if window > initial:
            start |= {"initial_window": window, "pace": Pace.EVEN, "gap": round_trip // window}
            start["ssthresh"] = max(start["ssthresh"], window * question.segment_size)
        return start

    def _js(self, question: Question) -> dict[str, int] | None:
        start, sight = self._liss(question), self.sight(question)
        if start is None or sight is None:
            return None
        window = max(1, start["ssthresh"] // question.segment_size)
        round_trip = question.round_trip or sight.steady[0].round_trip
        return start | {"initial_window": window, "pace": Pace.EVEN, "gap": round_trip // window}

    def _spand(self, question: Question) -> dict[str, int] | None:
        sight = self.sight(question)
        recent = self._recent(sight.prefix) if sight else []
        if len(recent) < self.options["spand_reports"]:
            return None
        window = min(max((sum(each[1] for each in recent) // len(recent)) >> 8, 1), self.options["maximum_window"])
        segments, acks = sum(each[3] for each in recent), sum(each[4] for each in recent)
        ratio = min(max(Fraction((segments << 8) // acks, 256) if acks else Fraction(2), Fraction(1)), Fraction(64))
        count = -(-question.transfer_bytes // question.segment_size)
        initial = equations.spand(count, window, ratio, bool(self.options["spand_shift"]))
        round_trip = question.round_trip or sum(each[2] for each in recent) // len(recent)
        start = {"initial_window": initial, "ssthresh": initial * question.segment_size}
        return start | {"pace": Pace.BUCKET, "gap": round_trip // initial}

    def _resume(self, question: Question) -> dict[str, int] | None:
        saved = self.saved.get(question.remote)
        if saved is None:
            return None
        if max(0, self.now - saved.time) > self.options["resume_lifetime"]:
            del self.saved[question.remote]
            return None
        if saved.user and saved.user != question.connection and saved.user in self.connections:
            return None
        most = min(self.options["resume_maximum_jump"], self.options["maximum_window"]) * question.segment_size
        jump = min(saved.window // 2, most)
        if jump <= self.options["initial_window"] * question.segment_size:
            return None
        start = {"saved_window": saved.window, "saved_rtt": saved.round_trip, "jump": jump}
        return start | {"until": saved.time + self.options["resume_lifetime"]}


def unicast(remote: Address) -> bool:
    """A peer can have it."""
    if isinstance(remote, IPv6Address):
        return int(remote) > 1 and not remote.is_multicast
    first = int(remote) >> 24
    return first not in (0, 127) and first < 224
