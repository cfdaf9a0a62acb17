# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How far one reporter with a valid key moves what ten honest ones share (in virtual time, for test and bench)."""

from __future__ import annotations

import random
from collections.abc import Callable

from downbeat_toe.gateway import wire

from sw.tests.gateway.virtual import Virtual

WORST = 0.10  # relative change that is allowed
HONEST = 10
SPREAD = 0.05  # standard deviation of an honest host's windows, relative: one path, its own phase of the saw-tooth
FACTORS = (1000.0, 0.001)
PREFIX = "192.0.2.0/24"


def effect(make: Callable[..., Virtual], aggregate: str, seed: int, draws: int = 6) -> float:
    """The largest relative change of window, round trip, LISS's ssthresh or saved window over the draws."""
    worst = 0.0
    for draw in range(draws):
        rng = random.Random(f"{seed} {draw}")
        gateway = make(f'[store]\naggregate = "{aggregate}"\n')
        window = rng.uniform(20, 400) * 1460
        for reporter in range(1, HONEST + 1):
            host = gateway.host(reporter)
            gateway.report(host, *_words(rng, window, 1.0, rng.randrange(1, 5)))
        before = _numbers(gateway, host)
        poisoner = gateway.host(99)
        for _ in range(10):  # and it says so often
            gateway.report(poisoner, *_words(rng, window, FACTORS[draw % 2], 5))
        after = _numbers(gateway, host)
        worst = max(worst, *(abs(new / old - 1) for old, new in zip(before, after, strict=True)))
    return worst


def _words(rng: random.Random, window: float, factor: float, transfers: int) -> list[bytes]:
    def some(usual: float, most: float) -> float:
        return min(max(usual * rng.gauss(1, SPREAD) * factor, 1e-6), most)

    items = [wire.transfer(PREFIX, max(some(window, 65535 << 14), 1), some(0.08, 60), 2) for _ in range(transfers)]
    state = wire.state(
        PREFIX, max(1, round(min(2 * factor, 1e6))), some(window / 4, 1e12), max(some(window, 65535 << 14), 1)
    )
    return [*items, state, wire.saved(PREFIX, max(some(window, 65535 << 14), 1), some(0.08, 60))]


def _numbers(gateway: Virtual, host: wire.Host) -> list[float]:
    (known,) = gateway.request(host, PREFIX)
    n = known.connections
    return [known.window, known.rtt, known.oldest * n / (n + 1), known.saved_window, known.saved_rtt]
