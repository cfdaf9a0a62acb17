# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The golden model of the gateway: whole lists, scanned for each message, from docs/reference/gateway-protocol.md,
docs/decisions/gateway-median-of-reporters.md and the comments of gateway.toml.

Times in ns. A cause is a name of `refused_total`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean, median_high, median_low

MS, SECOND = 10**6, 10**9
BUCKET = 10 * SECOND  # ages are whole ones
KEPT, KEPT_STATE = 30, 6  # buckets in which transfers and saved windows, and states, live
IDLE = 600 * SECOND
COOKIE_SLOT, COOKIE_LIFE = 5 * SECOND, 10 * SECOND
WINDOW = 1024  # sequence numbers within which each counts once
PARTS = ("transfer", "state", "saved")


@dataclass(frozen=True)
class Settings:
    """Settings of gateway.toml; rates are tokens a second and a burst."""

    prefixes: int = 262144
    reporters_of_prefix: int = 16
    mean: bool = False
    min_reports: int = 1
    messages: tuple[float, float] = (50000, 10000)
    hellos: tuple[float, float] = (20, 40)
    delay_ms: int = 10000
    reporters: int = 65536
    sessions: int = 64

    def toml(self) -> str:
        return (
            f"[store]\nprefixes = {self.prefixes}\nreporters = {self.reporters_of_prefix}\n"
            f'aggregate = "{"mean" if self.mean else "median"}"\nleast_reports = {self.min_reports}\n'
            f"[limits]\nmessages_per_second = {self.messages[0]}\nmessage_burst = {self.messages[1]}\n"
            f"hellos_per_second = {self.hellos[0]}\nhello_burst = {self.hellos[1]}\ndelay_ms = {self.delay_ms}\n"
            f"reporters = {self.reporters}\nsessions = {self.sessions}\n"
        )


class Tokens:
    """So many a second, and a burst."""

    def __init__(self, rate: tuple[float, float]) -> None:
        self.rate, self.left = rate, rate[1]
        self.at: int | None = None

    def take(self, now: int, cost: float) -> bool:
        if self.at is not None:
            self.left = min(self.rate[1], self.left + self.rate[0] * (now - self.at) / SECOND)
        self.at = now
        if self.left < cost:
            return False
        self.left -= cost
        return True


@dataclass
class Numbers:
    """Sequence numbers of a session: each counts once, within 1,024 of the highest."""

    seen: set[int] = field(default_factory=set)

    def refusal(self, number: int) -> str:
        if number == 0 or number <= max(self.seen, default=0) - WINDOW:
            return "stale"
        if number in self.seen:
            return "replayed"
        self.seen.add(number)
        return ""


@dataclass
class Session:
    """`fastest`: ms between the two clocks modulo 2^32, of the fastest message; it ages by 1/4,096."""

    token: int
    used: int
    fastest: int
    since: int
    numbers: Numbers = field(default_factory=Numbers)

    def late(self, stamp: int, now: int, max_ms: int) -> bool:
        delay = (now // MS - stamp) % 2**32
        slower = (delay - self.fastest) % 2**32
        slower -= 2**32 if slower >= 2**32 - max_ms else 0  # this much sooner it is still a message of this clock
        ages = (now - self.since) // MS // 4096
        if slower <= ages:
            self.fastest, self.since = delay, now
        return slower - ages > max_ms


@dataclass
class Reporter:
    messages: Tokens
    hellos: Tokens
    heard: int = 0
    sessions: list[Session] = field(default_factory=list)  # the one used least recently first
    nonces: dict[int, int] = field(default_factory=dict)  # and when they were welcomed


@dataclass
class Word:
    """One report: its kind, the bucket in which it was taken, its numbers."""

    kind: str
    bucket: int
    numbers: tuple[float, ...]

    def lives(self, bucket: int) -> bool:
        return bucket - self.bucket < (KEPT_STATE if self.kind == "state" else KEPT)


@dataclass
class Prefix:
    used: int  # the greater, the more recently
    rows: dict[int, list[Word]] = field(default_factory=dict)  # by reporter, in the order of their first words


class Golden:
    """One gateway."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.now = 0
        self.restart()

    def restart(self) -> None:
        self.reporters: dict[int, Reporter] = {}
        self.prefixes: dict[str, Prefix] = {}
        self.relayed: dict[int, Numbers] = {}
        self.counters: Counter[str] = Counter()
        self._uses = 0

    @property
    def bucket(self) -> int:
        return self.now // BUCKET

    # ---- sessions

    def cookie_lives(self, made: int) -> bool:
        """A cookie made then is taken now: in its slot of 5 s and in the next."""
        return self.now // COOKIE_SLOT - made // COOKIE_SLOT in (0, 1)

    def hello(self, number: int, nonce: int, stamp: int) -> str | None:
        """A cause, or None for a welcome, whose session `welcomed` gets. The cookie fits."""
        if number not in self.reporters and len(self.reporters) >= self.settings.reporters:
            self.expire()
            if len(self.reporters) >= self.settings.reporters:
                return "rate_limited"
        new = Reporter(Tokens(self.settings.messages), Tokens(self.settings.hellos), self.now)
        reporter = self.reporters.setdefault(number, new)
        reporter.nonces = {n: at for n, at in reporter.nonces.items() if self.now - at <= COOKIE_LIFE}
        if nonce in reporter.nonces:
            return "replayed"
        if not reporter.hellos.take(self.now, 1):
            return "rate_limited"
        if len(reporter.sessions) >= self.settings.sessions:
            del reporter.sessions[0]
            self.counters["evicted_sessions"] += 1
        reporter.nonces[nonce] = reporter.heard = self.now
        self.counters["hellos"] += 1
        self._opened = (reporter, stamp)
        return None

    def welcomed(self, token: int) -> None:
        reporter, stamp = self._opened
        reporter.sessions.append(Session(token, self.now, (self.now // MS - stamp) % 2**32, self.now))

    def taken(self, number: int, token: int, sequence: int, stamp: int, items: int) -> str:
        """The cause for which a message with so many items changes nothing, or nothing."""
        reporter = self.reporters.get(number)
        held = [each for each in reporter.sessions if each.token == token] if reporter else []
        if reporter is None or not held or self.now - held[0].used > IDLE:
            return "unknown_session"
        if not reporter.messages.take(self.now, min(items, self.settings.messages[1])):
            return "rate_limited"
        if cause := held[0].numbers.refusal(sequence):
            return cause
        if held[0].late(stamp, self.now, self.settings.delay_ms):
            return "stale"
        held[0].used = reporter.heard = self.now
        reporter.sessions.remove(held[0])
        reporter.sessions.append(held[0])
        return ""

    def expire(self) -> None:
        for number, reporter in list(self.reporters.items()):
            reporter.sessions = [each for each in reporter.sessions if self.now - each.used <= IDLE]
            if not reporter.sessions and self.now - reporter.heard > IDLE:
                del self.reporters[number]

    # ---- store

    def add(self, reporter: int, prefix: str, kind: str, numbers: tuple[float, ...], age: int = 0) -> None:
        """`age`: ns since another gateway took it; begun buckets count as whole ones."""
        ago = -(-age // BUCKET)
        if ago >= KEPT:
            return
        if prefix not in self.prefixes:
            while len(self.prefixes) >= self.settings.prefixes:
                self._displace()
            self.prefixes[prefix] = Prefix(0)
        place = self._use(prefix)
        if reporter not in place.rows and len(place.rows) >= self.settings.reporters_of_prefix:
            silent = min(place.rows, key=lambda each: max(word.bucket for word in place.rows[each]))
            # The new one stands where it stood.
            place.rows = {(reporter if each == silent else each): words for each, words in place.rows.items()}
            place.rows[reporter] = []
        row = place.rows.setdefault(reporter, [])
        word = Word(kind, self.bucket - ago, numbers)
        if kind == "transfer":
            row.append(word)
        elif not any(each.kind == kind and each.bucket > word.bucket for each in row):
            row[:] = [each for each in row if each.kind != kind] + [word]  # the newest of its kind alone

    def _use(self, prefix: str) -> Prefix:
        self._uses += 1
        self.prefixes[prefix].used = self._uses
        return self.prefixes[prefix]

    def _displace(self) -> None:
        """The reporter with most rows loses the one that was used least recently; of those who have as many, the greatest."""
        rows = Counter(reporter for place in self.prefixes.values() for reporter in place.rows)
        largest = max(rows, key=lambda reporter: (rows[reporter], reporter))
        name = min((n for n, p in self.prefixes.items() if largest in p.rows), key=lambda n: self.prefixes[n].used)
        del self.prefixes[name].rows[largest]
        if not self.prefixes[name].rows:
            del self.prefixes[name]
            self.counters["evicted_prefixes"] += 1

    def relay(
        self, reporter: int, session: int, sequence: int, items: list[tuple[str, str, tuple[float, ...]]], age: int
    ) -> None:
        if self.relayed.setdefault(session, Numbers()).refusal(sequence):
            self.counters["relay_refused"] += 1
            return
        self.counters["relay_taken"] += len(items)
        for prefix, kind, numbers in items:
            self.add(reporter, prefix, kind, numbers, age)

    def sweep(self) -> None:
        """Forgets old words."""
        for name, place in list(self.prefixes.items()):
            living = {n: [word for word in row if word.lives(self.bucket)] for n, row in place.rows.items()}
            place.rows = {number: row for number, row in living.items() if row}
            if not place.rows:
                del self.prefixes[name]

    def restored(self, then: int, elapsed: int | None) -> bool:
        """A snapshot of `then` is read now, after a restart; `elapsed`: ns by the dates where the machine was started
        again, else None. False: it is too old."""
        age = self.now - then if elapsed is None else elapsed
        prefixes, relayed = self.prefixes, self.relayed
        self.restart()
        if age >= KEPT * BUCKET:
            return False
        shift = 0 if elapsed is None else self.bucket - then // BUCKET - -(-elapsed // BUCKET)
        for place in prefixes.values():
            for row in place.rows.values():
                for word in row:
                    word.bucket += shift
        self.prefixes, self.relayed = prefixes, relayed
        self.sweep()
        return True

    # ---- responses

    def request(self, prefix: str) -> dict[str, float]:
        """The fields of a response that are not zero."""
        if prefix not in self.prefixes:
            return {}
        rows = list(self._use(prefix).rows.values())
        living = {kind: [found for row in rows if (found := self._living(row, kind))] for kind in PARTS}
        known = {**self._transfers(living["transfer"]), **self._states(living["state"]), **self._saved(living["saved"])}
        if known:
            kept = {"transfer": KEPT, "state": KEPT_STATE, "saved": KEPT}
            words = [word for row in rows for word in row if word.lives(self.bucket)]
            end = max((word.bucket + kept[word.kind]) * BUCKET for word in words)
            known["lifetime_ms"] = min(end - self.now, BUCKET) // MS
        return known

    def _living(self, row: list[Word], kind: str) -> list[tuple[float, ...]]:
        return [word.numbers for word in row if word.kind == kind and word.lives(self.bucket)]

    def _transfers(self, rows: list[list[tuple[float, ...]]]) -> dict[str, float]:
        if not rows:
            return {}
        mean, counts = self.settings.mean, [len(row) for row in rows]
        cap = max(counts) if mean else median_high(counts)
        count = sum(min(each, cap) for each in counts)
        if count < self.settings.min_reports:
            return {}
        if mean:
            window, rtt, acked = map(fmean, zip(*(numbers for row in rows for numbers in row), strict=True))
        else:
            words = [[fmean(values) for values in zip(*row, strict=True)] for row in rows]
            windows, rtts, ackeds = zip(*words, strict=True)
            window, rtt, acked = median_low(windows), median_high(rtts), median_low(ackeds)
        return {"transfer": len(rows), "transfers": count, "window": window, "rtt": rtt, "acked": acked}

    def _states(self, rows: list[list[tuple[float, ...]]]) -> dict[str, float]:
        words = [row[0] for row in rows]  # steady, slow, window
        steady = [window for connections, _, window in words if connections >= 1]
        if len(steady) < (1 if len(words) < 3 else max(3, len(words) // 2 + 1)):
            return {}
        oldest = median_low(steady)
        own = median_low([connections + slow / oldest for connections, slow, _ in words])
        return {"state": len(words), "oldest": oldest, "connections": own * len(words)}

    def _saved(self, rows: list[list[tuple[float, ...]]]) -> dict[str, float]:
        if not rows:
            return {}
        windows, rtts = zip(*(row[0] for row in rows), strict=True)
        return {"saved": len(rows), "saved_window": median_low(windows), "saved_rtt": median_high(rtts)}
