# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gateway's estimates against a golden model, over drawn reporters, reports and liars."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from statistics import fmean

import pytest
from downbeat_toe.gateway import wire

from sw.tests.gateway.golden import Golden, Settings
from sw.tests.gateway.virtual import Virtual

SEED = int(os.environ.get("SEED") or 1)
DRAWS = 150
MAX = 65535 << 14
NAMES = ("window", "rtt", "acked", "transfers", "oldest", "connections", "saved_window", "saved_rtt")
Report = tuple[float, float, float]
Make = Callable[..., Virtual]


class Reporter:
    """One host's words on a path of 60,000 bytes and 80 ms, or what a liar does."""

    def __init__(self, draw: random.Random, liar: bool) -> None:
        self.liar = liar

        def some(usual: float, high: float) -> float:
            value = usual * (draw.choice((1e-4, 1e4)) if liar else draw.uniform(0.8, 1.25))
            return min(max(value, 1), high)

        count = draw.choice((1, 40)) if liar else draw.randrange(4)
        self.transfers = [(some(60_000, MAX), min(some(0.08e6, 6e7) / 1e6, 60), some(4, 256)) for _ in range(count)]
        self.steady = draw.choice((0, 1, 1 << 20)) if liar else draw.choice((0, 0, 1, 2, 3))
        self.state = (self.steady, some(20_000, MAX), some(60_000, MAX)) if draw.random() < 0.9 else None
        self.saved = (some(90_000, MAX), some(0.4e6, 6e7) / 1e6) if draw.random() < 0.7 else None

    def items(self, prefix: str) -> list[bytes]:
        items = [wire.transfer(prefix, *each) for each in self.transfers]
        items += [wire.state(prefix, *self.state)] if self.state else []
        return items + ([wire.saved(prefix, *self.saved)] if self.saved else [])

    def mean(self) -> Report:
        window, rtt, acked = (fmean(numbers) for numbers in zip(*self.transfers, strict=True))
        return window, rtt, acked


def model(reporters: list[Reporter]) -> dict[str, float]:
    golden = Golden(Settings())
    for number, each in enumerate(reporters):
        for transfer in each.transfers:
            golden.add(number, "", "transfer", transfer)
        for kind, word in (("state", each.state), ("saved", each.saved)):
            if word:
                golden.add(number, "", kind, word)
    return golden.request("")


def drawn(virtual: Make, liars: Callable[[random.Random, int], int]) -> list[tuple[list[Reporter], dict[str, float]]]:
    """Reporters of drawn prefixes, and what the gateway responds."""
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    gateway = virtual("[limits]\nmessages_per_second = 100000000\nmessage_burst = 100000000\n")
    hosts = [gateway.host(reporter) for reporter in range(1, 17)]
    found = []
    for at in range(DRAWS):
        prefix = f"10.{at}.0.0/16"
        count = draw.randrange(1, 17)
        reporters = [Reporter(draw, liar=n < liars(draw, count)) for n in range(count)]
        for host, reporter in zip(hosts, reporters, strict=False):
            items = reporter.items(prefix)
            for first in range(0, len(items), 22):
                gateway.report(host, *items[first : first + 22])
        (said,) = gateway.request(hosts[0], prefix)
        found.append((reporters, {name: getattr(said, name) for name in NAMES}))
    return found


def test_the_response_is_the_models(virtual: Make) -> None:
    for reporters, said in drawn(virtual, lambda draw, count: draw.randrange(count + 1)):
        wanted = model(reporters)
        assert said == pytest.approx({name: wanted.get(name, 0) for name in NAMES}, rel=1e-6)


def test_fewer_than_a_quarter_of_liars_move_nothing_beyond_what_honest_hosts_say(virtual: Make) -> None:
    decided = 0
    for reporters, said in drawn(virtual, lambda draw, count: (count - 1) // 4):
        honest = [each for each in reporters if not each.liar]
        liars = len(reporters) - len(honest)
        transfers = [each for each in honest if each.transfers]
        if len(transfers) > liars:
            for place, name in enumerate(("window", "rtt", "acked")):
                words = [each.mean()[place] for each in transfers]
                assert min(words) * 0.999 <= said[name] <= max(words) * 1.001
            high = max(len(each.transfers) for each in transfers)
            assert said["transfers"] <= sum(len(each.transfers) for each in transfers) + liars * high
        states = [each.state for each in honest if each.state]
        if said["oldest"] and len(states) > 3 * liars:
            decided += liars > 0
            steady = [state[2] for state in states if state[0] >= 1]
            assert min(steady) <= said["oldest"] <= max(steady)
            own = [state[0] + state[1] / said["oldest"] for state in states]
            assert min(own) * len(own) * 0.999 <= said["connections"] <= max(own) * (len(own) + liars) * 1.001
        saved = [each.saved for each in honest if each.saved]
        if len(saved) > liars:
            for place, name in enumerate(("saved_window", "saved_rtt")):
                assert min(word[place] for word in saved) * 0.999 <= said[name] <= max(w[place] for w in saved) * 1.001
    assert decided > 10, "liars took part in ssthresh"


def test_one_liar_among_few_steady_hosts_decides_no_ssthresh(virtual: Make) -> None:
    gateway = virtual()
    prefix = "192.0.2.0/24"
    for reporter in range(1, 11):
        gateway.report(host := gateway.host(reporter), wire.state(prefix, float(reporter == 1), 20_000, 60_000))
    gateway.report(gateway.host(66), wire.state(prefix, 1, 0, 1))
    assert gateway.request(host, prefix)[0].oldest == 0
