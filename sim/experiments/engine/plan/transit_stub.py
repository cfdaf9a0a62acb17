# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A network of transit and stub domains, as GT-ITM draws them (Zegura, Calvert and Bhattacharjee 1996): a connected
graph of transit routers, and stub domains that hang on them, each a connected graph of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass

from sim.experiments.engine.schema.topology import Stubs

Pair = tuple[int, int]


@dataclass(frozen=True)
class Graph:
    """Router 0 is a transit router."""

    routers: int
    pairs: tuple[Pair, ...]
    stubs: tuple[int, ...]  # the routers of stub domains


def draw(draws: random.Random, stubs: Stubs) -> Graph:
    transits = list(range(stubs.transits))
    pairs = _connected(draws, transits, stubs.edges)
    routers, inside = stubs.transits, []
    for transit in transits:
        for _ in range(stubs.domains):
            domain = list(range(routers, routers + stubs.routers))
            routers += stubs.routers
            inside += domain
            pairs += _connected(draws, domain, stubs.edges)
            pairs.append((transit, draws.choice(domain)))
    return Graph(routers, tuple(pairs), tuple(inside))


def _connected(draws: random.Random, routers: list[int], edges: float) -> list[Pair]:
    """A random tree, and each other pair with the probability `edges`."""
    tree = {(draws.choice(routers[:place]), router) for place, router in enumerate(routers) if place}
    others = [(a, b) for place, b in enumerate(routers) for a in routers[:place] if (a, b) not in tree]
    return sorted(tree) + [pair for pair in others if draws.random() < edges]
