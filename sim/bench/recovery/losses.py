# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Cost of a lost tail, of reordering and of a spike of delay, with RACK, tail loss probes, undo and the limit of growth,
and without.

The core sends to ns-3's TCP, whose receiver has SACK, timestamps and delayed ACKs, over 100 Mb/s and a round trip of
20 ms. The seed is the first of the runs' seeds.
"""

from __future__ import annotations

import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.table import Table

from sim.adversarial.matrix.program import Program
from sim.bench.scale.wire import Failed
from sim.lib import build
from sim.lib.contents import generated

ROUND_TRIP = 0.02  # s
SEGMENT = 1448  # bytes of data, with timestamps
FLIGHT = 10 * SEGMENT
WINDOW = 11  # segments: the flight and its FIN
BULK = 12_000_000  # bytes
LONG = 6_000_000  # bytes
SPIKE = 3.0  # s: three of the shortest retransmission timeouts
RUNS, BULK_RUNS = 20, 3
# Segments of the core that are lost, in order of departure.
TAILS = {
    "last": "10",
    "last two": "9,10",
    "last three": "8,9,10",
    "fifth and its retransmission": "5,11",
}
ACROSS = {"with": 1, "without": 0}  # RACK and its company: with and without


class Transfers:
    """Transfers of one program; raises Failed if bytes differ or a transfer does not end."""

    def __init__(self, path: Path, work: Path) -> None:
        self._program = Program(path, work)

    def seconds(self, size: int, seed: int, **words: object) -> float:
        """From the departure of the first segment to the arrival of the last byte."""
        contents = generated(str(seed), size)
        said, received = self._program.transfer(contents, {"role": "sender", "seed": seed} | words, 600)
        if said["failure"] or received != contents:
            raise Failed(said["failure"] or f"{len(received)} of {size} bytes arrived, or others")
        return float(said["completion_seconds"])

    def close(self) -> None:
        self._program.close()


def tails(transfers: Transfers, first: int, rack: int) -> dict[str, float]:
    """Medians, round trips."""
    seeds = range(first, first + RUNS)
    return {
        name: statistics.median(
            transfers.seconds(FLIGHT, seed, drop=drop, rack=rack, **{"initial-window": WINDOW}) for seed in seeds
        )
        / ROUND_TRIP
        for name, drop in TAILS.items()
    }


def reordering(transfers: Transfers, first: int, rack: int) -> float:
    """Throughput with 5 % of the segments held back by up to a quarter of the round trip, by that without; median."""
    ratios = []
    runs = BULK_RUNS if rack else 1  # each of the needless retransmissions of the others takes its time
    for seed in range(first, first + runs):
        straight = transfers.seconds(BULK, seed, rack=rack)
        ratios.append(straight / transfers.seconds(BULK, seed, rack=rack, reorder=0.05, hold=ROUND_TRIP / 4))
    return statistics.median(ratios)


def spike(transfers: Transfers, seed: int, rack: int) -> float:
    """Time of a transfer in which nothing arrives for three timeouts, less these, by the time without."""
    quiet = transfers.seconds(LONG, seed, rack=rack)
    words = {"spike": SPIKE, "spike-at": quiet / 2}
    return (transfers.seconds(LONG, seed, rack=rack, **words) - SPIKE) / quiet


def measure(seed: int) -> dict[str, Any]:
    """Fields of recovery.json; `without` has those of a connection without RACK and its company."""
    path = build.matrix() / "downbeat_matrix"

    def one(rack: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="recovery-", dir=build.ROOT / "build") as work:
            transfers = Transfers(path, Path(work))
            try:
                return {
                    "tail_round_trips": tails(transfers, seed, rack),
                    "reordering_ratio": reordering(transfers, seed, rack),
                    "spike_ratio": spike(transfers, seed, rack),
                }
            finally:
                transfers.close()

    with ThreadPoolExecutor(len(ACROSS)) as pool:
        found = dict(zip(ACROSS, pool.map(one, ACROSS.values()), strict=True))
    return {**found["with"], "without": found["without"]}


def table(report: dict[str, Any]) -> Table:
    shown = Table(title="Recovery: 100 Mb/s, 20 ms, ns-3's receiver")
    shown.add_column("case")
    for name in ("with RACK, TLP, undo", "without"):
        shown.add_column(name, justify="right")
    for name in TAILS:
        pair = (way["tail_round_trips"][name] for way in (report, report["without"]))
        shown.add_row(f"ten segments, lost: {name} (round trips)", *(f"{value:.2f}" for value in pair))
    for name, text in (
        ("reordering_ratio", "throughput with 5 % reordered, by that without"),
        ("spike_ratio", "time less a spike of 3 s, by that without one"),
    ):
        shown.add_row(text, *(f"{way[name]:.3f}" for way in (report, report["without"])))
    return shown
