# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gap of a pair behind an M/D/1 queue: where thesis-4-10.toml's bound lies on that curve."""

from __future__ import annotations

import math
import os
import random
from statistics import mean, stdev

import pytest
from downbeat_toe import quantities

from sim.experiments.engine.schema.load import load
from sim.experiments.engine.schema.units import PACKET, PPP
from sim.experiments.names import FILES

SEED = int(os.environ.get("SEED") or 1)
PAIRS, PAIRS_OF_THE_FILE = 20_000, 1_000
EARLIER = 0.1  # seconds before a pair in which the queue forgets that it was empty


def departure_gap(draw: random.Random, gap: float, rate: float, pair: float, other: float) -> float:
    """Seconds between the departures of two packets that take `pair` seconds each and arrive `gap` apart, among packets
    that take `other` and arrive as a Poisson process, `rate` a second."""
    arrivals = [(EARLIER, pair, True), (EARLIER + gap, pair, True)]
    at = draw.expovariate(rate)
    while at < EARLIER + gap:
        arrivals.append((at, other, False))
        at += draw.expovariate(rate)
    free, departures = 0.0, []
    for arrival, service, is_pair in sorted(arrivals):
        free = max(free, arrival) + service
        if is_pair:
            departures.append(free)
    return departures[1] - departures[0]


def test_the_bound_at_12_ms_beside_one_poisson_source_is_what_such_a_queue_makes() -> None:
    quantity = "1 Poisson: ms at arrival of 12 ms"
    experiment = load(FILES["thesis-4-10"], None).experiment
    (published,) = (each for each in experiment.published if each.quantity == quantity)
    (source,) = (each for each in experiment.traffic if each.kind == "poisson")
    (size,) = (quantities.size(each) for each in source.packets)
    assert source.rate is not None

    def seconds(payload_and_headers: int) -> float:
        return 8 * (payload_and_headers + PPP - PACKET) / experiment.topology.link.rate

    draw = random.Random(SEED)
    of_pair, of_source = seconds(experiment.run.packet), seconds(size)
    gaps = [1e3 * departure_gap(draw, 0.012, source.rate / 8 / size, of_pair, of_source) for _ in range(PAIRS)]
    error, scatter = (stdev(gaps) / math.sqrt(pairs) for pairs in (PAIRS, PAIRS_OF_THE_FILE))
    print(f"seed {SEED}: {mean(gaps):.3f} ms, standard error {error:.3f}; of {PAIRS_OF_THE_FILE} pairs {scatter:.3f}")
    assert published.at_least == pytest.approx(mean(gaps), abs=5 * error)
    assert scatter == pytest.approx(0.045, abs=0.006)
