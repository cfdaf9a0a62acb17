# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The lines of pairs that measure a path."""

from __future__ import annotations

from collections.abc import Sequence

from sim.experiments.engine.schema import Pairs
from sim.experiments.engine.units import PACKET
from sim.experiments.engine.writer import Writer

REST = 0.1  # of the mean time from pair to pair


def line(writer: Writer, pairs: Pairs) -> str:
    """Both of its hosts are its own."""
    places = writer.draws(pairs.label, "place")
    access = writer.experiment.topology.access
    ends = [writer.host(writer.at(end, places), access) for end in (pairs.origin, pairs.target)]
    return text(pairs.label, ends[0], ends[1], _leaves(writer, pairs))


def text(label: str, origin: int, target: int, leaves: Sequence[int]) -> str:
    """`leaves`: ns, of each packet; two of them are a pair."""
    return f"pairs label={label} from={origin} to={target} bytes={PACKET} leaves={','.join(map(str, leaves))}"


def _leaves(writer: Writer, pairs: Pairs) -> list[int]:
    draws = writer.draws(pairs.label, "pairs")
    leaves: list[int] = []
    now = pairs.start
    while now < writer.experiment.run.duration:
        gap = pairs.gaps[len(leaves) // 2 % len(pairs.gaps)]
        leaves += [now, now + gap]
        rest = round(REST * pairs.every) + gap
        now += rest + round(draws.expovariate(1) * (pairs.every - rest))
    return leaves
