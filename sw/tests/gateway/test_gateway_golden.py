# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sessions and store of the gateway do what the golden model does, over drawn messages and clocks."""

from __future__ import annotations

import math
import os
import random
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from downbeat_toe.gateway import wire

from sw.tests.gateway.golden import MS, SECOND, Golden, Settings
from sw.tests.gateway.virtual import SITE_KEY, Virtual

SEED = int(os.environ.get("SEED") or 1)
PLAYS = 20_000 if os.environ.get("SOAK") else 120  # for each kind of settings
ACTS = 100
Make = Callable[..., Virtual]

KINDS = {
    "usual": Settings(sessions=3),
    "narrow": Settings(prefixes=4, reporters_of_prefix=2, sessions=2, reporters=3, min_reports=2),
    "slow": Settings(messages=(2, 8), hellos=(1, 3), delay_ms=300, prefixes=5, reporters_of_prefix=3, sessions=2),
    "mean": Settings(mean=True, min_reports=3, prefixes=6, sessions=4, reporters_of_prefix=3),
}
PREFIXES = (
    "10.0.0.0/8",
    "10.0.0.0/16",
    "192.0.2.0/24",
    "192.0.2.7/32",
    "2001:db8::/32",
    "2001:db8::1/128",
    "0.0.0.0/8",
)
DAY = 86_400
STEPS = (0, 0.001, 0.1, 1, 4.999, 5, 10, 9.999, 60, 299, 300, 600.001, 65_536 * 10, 30 * DAY)  # s
LIKELY = (60, 30, 30, 15, 4, 4, 8, 4, 4, 1, 1, 0.5, 0.1, 0.1)
DELAYS = (0, 0, 0, 5, 299, 300, 301, 9_999, 10_000, 10_001, 30_000, -5, -300, -301, -20_000)  # ms
AHEAD = (1, 1, 1, 1, 1, 2, 3, 40, 1023, 1024, 1025, 5000)
BEHIND = (0, 1, 2, 39, 1022, 1023, 1024, 1025)
NUMBERS = ("transfers", "window", "rtt", "acked", "oldest", "connections", "saved_window", "saved_rtt", "lifetime_ms")


@dataclass
class Spoiling:
    """A fault of a message: a change of its bytes before they are sealed, or after."""

    cause: str
    change: Callable[[bytearray], None]
    sealed: bool = True


def put(at: int, *values: int) -> Callable[[bytearray], None]:
    def change(message: bytearray) -> None:
        message[at : at + len(values)] = values

    return change


def cut(message: bytearray) -> None:
    del message[47:]


def lengthened(message: bytearray) -> None:
    message += bytes(1201)


# In the order in which the gateway looks; where a message has two of them, the first is counted.
SPOILT = (
    Spoiling("too_short", cut, sealed=False),
    Spoiling("too_long", lengthened, sealed=False),
    Spoiling("wrong_magic", put(0, 0x43)),
    Spoiling("wrong_version", put(2, 2)),
    Spoiling("wrong_type", put(3, 0)),
    Spoiling("reserved_bits", put(5, 1)),
    Spoiling("wrong_length", put(6, 0x7F)),
    Spoiling("unknown_key", put(4, 9)),
    Spoiling("forged", put(40, 0xAA, 0x55, 0xAA), sealed=False),
    Spoiling("wrong_prefix", put(32, 5)),
)


REPORTERS = (1, 2, 1 + 2**8, 1 + 2**16, 1 + 2**24)  # a cookie that left out a byte would serve two


class Play:
    """One gateway in virtual time and the model, and what its hosts and those that record them know."""

    def __init__(self, gateway: Virtual, settings: Settings, seed: int, file: Path) -> None:
        self.draw = random.Random(seed)
        self.gateway, self.file = gateway, file
        self.model = Golden(settings)
        self.hosts = {number: wire.Host(SITE_KEY, number) for number in REPORTERS}
        self.offsets = {number: self.draw.randrange(1 << 32) for number in self.hosts}  # ms, of their clocks
        # Reporter, nonce, source, time (of no gateway after a restart), the hello with the cookie.
        self.cookies: list[tuple[int, int, str, int | None, bytes]] = []
        self.sessions: dict[int, list[tuple[int, list[int]]]] = {number: [] for number in self.hosts}  # token, highest
        self.refused: Counter[str] = Counter()
        self.saw: Counter[str] = Counter()
        gateway.restart()
        self.at(self.draw.choice((0, 3.2, 1000, 10**7)) * SECOND)
        for _ in self.hosts:
            self.hello()

    def at(self, now: float) -> None:
        self.model.now = round(now)
        self.gateway.at(self.model.now / SECOND)
        self.model.now = self.gateway.now

    def step(self) -> None:
        self.at(self.model.now + self.draw.choices(STEPS, LIKELY)[0] * SECOND)
        acts = (
            self.report,
            self.query,
            self.hello,
            self.again,
            self.spoilt,
            self.sweep,
            self.restart,
            self.relay,
            self.save,
        )
        self.draw.choices(acts, (30, 25, 6, 3, 4, 2, 0.2, 4, 0.6))[0]()

    def stamp(self, number: int) -> int:
        """The host's clock, when it sent what comes now."""
        delay = self.draw.choice(DELAYS) if self.draw.random() < 0.2 else 0
        return (self.model.now // MS - self.offsets[number] - delay) % 2**32

    # ---- hellos

    def hello(self) -> None:
        """One without a cookie, one with it, and at times only the first."""
        draw = self.draw
        number = draw.choice(list(self.hosts))
        host, source, nonce = self.hosts[number], draw.choice(("a", "b")), draw.randrange(40)
        host.stamp = self.stamp(number)
        hello = host.hello(nonce, draw.choice((0, 0, 77)))
        challenge = self.gateway.give(hello, source)
        assert len(challenge) <= len(hello), "it is no amplifier"
        kind, body = host.opened(challenge)
        echoed, cookie = struct.unpack(">QQ", body)
        same((kind, echoed), (wire.CHALLENGE, nonce))
        self.model.counters["challenges"] += 1
        host.stamp = self.stamp(number)
        self.cookies.append((number, nonce, source, self.model.now, host.hello(nonce, cookie)))
        thief = draw.choice(list(self.hosts))
        if thief != number:
            self._with_stolen(thief, nonce, cookie, source)
        if draw.random() < 0.8:
            self._with_cookie(*self.cookies[-1], source)

    def _with_stolen(self, number: int, nonce: int, cookie: int, source: str) -> None:
        """A cookie is for one reporter, whatever else is the same."""
        host = self.hosts[number]
        host.stamp = self.stamp(number)
        same(host.opened(self.gateway.give(host.hello(nonce, cookie), source))[0], wire.CHALLENGE)
        self.saw["stolen cookie"] += 1
        self.model.counters["challenges"] += 1

    def again(self) -> None:
        """A hello that somebody has recorded, from its own address or another."""
        if self.cookies:
            self._with_cookie(*self.draw.choice(self.cookies[-8:]), self.draw.choice(("a", "b")))

    def _with_cookie(self, number: int, nonce: int, source: str, made: int | None, hello: bytes, origin: str) -> None:
        host = self.hosts[number]
        response = self.gateway.give(hello, origin)
        if source != origin or made is None or not self.model.cookie_lives(made):
            same(host.opened(response)[0], wire.CHALLENGE)
            self.saw["old cookie"] += 1
            self.model.counters["challenges"] += 1
            return
        cause = self.model.hello(number, nonce, int.from_bytes(hello[12:16], "big"))
        if cause:
            self._refuse(cause, response)
            return
        kind, body = host.opened(response)
        same((kind, struct.unpack(">Q", body[:8])[0]), (wire.WELCOME, nonce))
        token = int.from_bytes(body[8:], "big")
        self.model.welcomed(token)
        self.sessions[number].append((token, [0]))

    # ---- messages

    def report(self) -> None:
        items = [self._item() for _ in range(self.draw.choice((1, 1, 2, 3, 22)))]
        number, response, taken = self._send(wire.REPORT, b"".join(map(packed, items)), len(items))
        if taken:
            same(response, b"")
            self.model.counters["reports"] += 1
            for item in items:
                self.model.add(number, *item)

    def query(self) -> None:
        prefixes = [self.draw.choice(PREFIXES) for _ in range(self.draw.choice((1, 2, 3, 12)))]
        number, response, taken = self._send(wire.QUERY, b"".join(map(wire.prefix_item, prefixes)), len(prefixes))
        if taken:
            self.model.counters["queries"] += 1
            kind, body = self.hosts[number].opened(response)
            same(kind, wire.RESPONSE)
            said = wire.responses(body)
            same([each.prefix for each in said], prefixes)
            for each in said:
                self._judge(each)

    def _judge(self, said: wire.Response) -> None:
        wanted = self.model.request(said.prefix)
        self.saw["known" if wanted else "unknown"] += 1
        found = dict(zip(("transfer", "state", "saved"), said.reporters, strict=True))
        found |= {name: getattr(said, name) for name in NUMBERS}
        for name, value in found.items():
            assert math.isclose(value, wanted.get(name, 0), rel_tol=1e-6), (
                f"{said.prefix} {name}: the gateway has {value}, the model {wanted.get(name, 0)}"
            )

    def _item(self) -> tuple[str, str, tuple[float, ...]]:
        draw = self.draw
        prefix, kind = draw.choice(PREFIXES), draw.choice(("transfer", "transfer", "state", "saved"))
        window, rtt = draw.uniform(1, 1e6), draw.uniform(0.001, 2)
        if kind == "transfer":
            return prefix, kind, (window, rtt, draw.uniform(1, 3))
        if kind == "saved":
            return prefix, kind, (window, rtt)
        return prefix, kind, (float(draw.choice((0, 0.5, 1, 1, 2, 3))), draw.uniform(0, 1e5), window)

    def _send(self, kind: int, body: bytes, items: int) -> tuple[int, bytes, bool]:
        """Reporter, response, and whether the gateway takes the message."""
        number, message, of = self._message(kind, body)
        response = self.gateway.give(message)
        cause = self.model.taken(number, *of, items)
        if cause:
            self._refuse(cause, response)
        return number, response, not cause

    def _message(self, kind: int, body: bytes) -> tuple[int, bytes, tuple[int, int, int]]:
        """Reporter; the message; its session, sequence and stamp."""
        draw = self.draw
        known = [number for number, held in self.sessions.items() if held]
        number = draw.choice(known) if known and draw.random() < 0.95 else draw.choice(list(self.hosts))
        host, held = self.hosts[number], self.sessions[number]
        others = [session for sessions in self.sessions.values() for session in sessions]
        chosen = held[-1:] if draw.random() < 0.7 else held[-4:] if draw.random() < 0.9 else others
        token, highest = draw.choice(chosen) if chosen else (draw.choice((0, 5)), [0])
        sequence = highest[0] + draw.choice(AHEAD)
        if draw.random() < 0.15:
            sequence = max(0, highest[0] - draw.choice(BEHIND))
        elif number in known:
            highest[0] = sequence
        host.session, host.stamp = token, self.stamp(number)
        return number, host.message(kind, body, sequence=sequence), (token, sequence, host.stamp)

    def spoilt(self) -> None:
        """One or two of what a message may not have, also where no session has it."""
        number, message, _ = self._message(wire.REPORT, packed(self._item()))
        wrong = sorted(self.draw.sample(range(len(SPOILT)), self.draw.choice((1, 2))))
        if wrong == [0, 1]:
            del wrong[1]
        body = bytearray(message[: -wire.TAG])
        for at in wrong:
            if SPOILT[at].sealed:
                SPOILT[at].change(body)
        key = self.hosts[number].key
        whole = bytearray(body + wire.tag(key, bytes(body)))
        for at in wrong:
            if not SPOILT[at].sealed:
                SPOILT[at].change(whole)
        self._refuse(SPOILT[wrong[0]].cause, self.gateway.give(bytes(whole)))

    def _refuse(self, cause: str, response: bytes) -> None:
        self.refused[cause] += 1
        self.model.counters[cause] += 1
        # Only a session that is not known has an response, of 8 bytes of body: its cause.
        same(response[32:40], struct.pack(">Q", 15) if cause == "unknown_session" else b"")
        same(bool(response) and response[3], cause == "unknown_session" and wire.REFUSAL)

    # ---- the gateway by itself

    def relay(self) -> None:
        draw = self.draw
        items = [self._item() for _ in range(draw.choice((1, 2, 5)))]
        session, sequence = draw.randrange(3), draw.randrange(6) if draw.random() < 0.5 else draw.randrange(4000)
        age = draw.choice((0, 1, 9_999, 10_000, 10_001, 60_000, 289_999, 290_000, 290_001, 10**6))  # ms
        number = draw.choice(list(self.hosts))
        host = replace(self.hosts[number], session=session)
        body = struct.pack(">I", age) + b"".join(map(packed, items))
        self.gateway.relay(host.message(wire.RELAY, body, sequence=sequence))
        self.model.relay(number, session, sequence, items, age * MS)

    def sweep(self) -> None:
        self.gateway.sweep()
        self.model.sweep()
        self.model.expire()
        self.count()

    def restart(self) -> None:
        self.count()
        self.gateway.restart()
        self.model.restart()
        self._void_cookies()

    def _void_cookies(self) -> None:
        self.cookies = [(number, nonce, source, None, hello) for number, nonce, source, _, hello in self.cookies]

    def save(self) -> None:
        """And a restart, at times of the whole machine. What a full store drops next is its own afterwards."""
        if self.model.settings.prefixes < len(PREFIXES):
            return
        self.count()
        then, date = self.model.now, 10**6
        same(self.gateway.save(self.file, date), "saved")
        self.model.sweep()
        later = self.draw.choice((0, 0.5, 10, 10.5, 61, 250, 299.5, 300, 400))
        boot = self.draw.random() < 0.5
        self._void_cookies()
        self.at((self.draw.choice((1, 12, 500)) if boot else then / SECOND + later) * SECOND)
        response = self.gateway.restore(self.file, date + later, "b" if boot else "a")
        same(
            response.split()[0],
            "restored" if self.model.restored(then, round(later * SECOND) if boot else None) else "left",
        )
        self.saw[response.split()[0]] += 1

    def count(self) -> None:
        """The counters, and how many prefixes, sessions and reporters there are."""
        same(self.gateway.size()[0], len(self.model.prefixes))
        found = self.gateway.counters()
        found.pop("received", None)
        reporters = self.model.reporters
        sessions = sum(len(reporter.sessions) for reporter in reporters.values())
        wanted = self.model.counters | Counter(sessions=sessions, reporters=len(reporters))
        same(found, {name: count for name, count in wanted.items() if count})


def packed(item: tuple[str, str, tuple[Any, ...]]) -> bytes:
    prefix, kind, numbers = item
    make: dict[str, Callable[..., bytes]] = {"transfer": wire.transfer, "state": wire.state, "saved": wire.saved}
    return make[kind](prefix, *numbers)


def same(found: object, wanted: object) -> None:
    assert found == wanted, f"the gateway has {found}, the model {wanted}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_gateway_does_what_the_model_does(virtual: Make, tmp_path: Path, kind: str) -> None:
    gateway = virtual(KINDS[kind].toml())
    refused, saw = Counter[str](), Counter[str]()
    print(f"seeds {SEED * 1_000_000} to {SEED * 1_000_000 + PLAYS - 1}")
    for seed in range(SEED * 1_000_000, SEED * 1_000_000 + PLAYS):
        play = Play(gateway, KINDS[kind], seed, tmp_path / "snapshot")
        for act in range(ACTS):
            try:
                play.step()
            except AssertionError as error:
                raise AssertionError(f"{kind}, seed {seed}, act {act}: {error}") from None
        play.count()
        refused += play.refused
        saw += play.saw
    print(refused, saw)
    often = {"stale", "replayed", "unknown_session", *(each.cause for each in SPOILT)}
    assert all(refused[cause] > 20 for cause in often | ({"rate_limited"} if kind == "slow" else set())), refused
    assert all(saw[name] > 20 for name in ("known", "unknown", "old cookie", "stolen cookie")), saw
