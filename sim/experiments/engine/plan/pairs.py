# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The lines of pairs that measure a path."""

from __future__ import annotations

from sim.experiments.engine.plan.writer import Writer
from sim.experiments.engine.schema.traffic import Pairs
from sim.experiments.engine.schema.units import PACKET

REST = 0.1  # share of the mean time from pair to pair


def line(writer: Writer, pairs: Pairs) -> str:
    """The pairs have two hosts of their own."""
    places = writer.draws(pairs.label, "place")
    access = writer.experiment.topology.access
    ends = [writer.host(writer.at(end, places), access) for end in (pairs.origin, pairs.target)]
    leaves = ",".join(map(str, _leaves(writer, pairs)))
    return f"pairs label={pairs.label} from={ends[0]} to={ends[1]} bytes={PACKET} leaves={leaves}"


def _leaves(writer: Writer, pairs: Pairs) -> list[int]:
    """Departure of each packet, ns; two packets are a pair."""
    draws = writer.draws(pairs.label, "pairs")
    leaves: list[int] = []
    now = pairs.start
    while now < writer.experiment.run.duration:
        gap = pairs.gaps[len(leaves) // 2 % len(pairs.gaps)]
        leaves += [now, now + gap]
        rest = round(REST * pairs.every) + gap
        now += rest + round(draws.expovariate(1) * (pairs.every - rest))
    return leaves
