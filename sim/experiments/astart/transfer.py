# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One transfer by the core over a dumbbell, and what its rate estimator and its windows did.

Segments have 1,000 bytes; with headers they are the thesis' packets of 1,040.
"""

from __future__ import annotations

import csv
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sim.ns3 import golden

SEGMENT = 1000
PACKET = 1040
LINK_PACKET = 1042  # on ns-3's link
STALL_SECONDS = 60  # virtual
LIMIT_SECONDS = 300  # wall time of one program


@dataclass(frozen=True)
class Network:
    """`rate` counts the thesis' packets."""

    name: str
    rate: int  # b/s
    round_trip_ms: int
    buffer_packets: int
    cross: int = 0  # constant-rate sources, a fifth of the rate each

    @property
    def link_rate(self) -> int:
        return self.rate * LINK_PACKET // PACKET


@dataclass(frozen=True)
class Transfer:
    """Times in s from the connection's begin, windows in segments."""

    policy: str
    network: str
    seed: int
    estimates: list[tuple[float, float, float, float]]  # time, BWE, ERE, cwnd
    seconds: float  # until the last byte is acknowledged
    retransmissions: int
    drops: int
    events: int
    mismatch: str  # with the golden models; empty: none


def run(
    program: Path,
    work: Path,
    network: Network,
    startup: str,
    argument: int,
    seed: int,
    segments: int,
    *,
    window: int = 2,
) -> Transfer:
    """The receiver acknowledges each segment. `window` is the initial one."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "file"
    file.write_bytes(bytes(segments * SEGMENT))
    values: dict[str, object] = {
        "sender": "core",
        "file": file,
        "out": work,
        "rate": network.link_rate,
        "rtt": network.round_trip_ms * 1_000_000,
        "buffer-packets": network.buffer_packets,
        "segment-size": SEGMENT,
        "initial-window": window,
        "ssthresh": 32 * SEGMENT,
        "startup": startup,
        "startup-argument": f"{argument:#x}",
        "ack-every": 1,
        "cross": network.cross,
        "cross-rate": network.link_rate // 5,
        "cross-packet": 210,
        "seed": seed,
        "stall": STALL_SECONDS,
        "wall-limit": LIMIT_SECONDS,
    }
    command = [str(program), *(f"--{name}={value}" for name, value in values.items())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS + 60, check=False)
    if not (work / "result.json").exists():
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    result = json.loads((work / "result.json").read_text())
    with (work / "events.csv").open(newline="") as events:
        rows = list(csv.DictReader(events))
    compared = golden.compare(rows, startup_argument=argument)
    begin = next(int(row["time_ns"]) for row in rows if row["congestion"] == "established")
    acks = [int(row["time_ns"]) for row in rows if int(row["acked"]) > 0]
    return Transfer(
        f"{startup} bwe" if argument & 1 else startup,
        network.name,
        seed,
        [_estimate(row, begin) for row in rows if row["event"] == "estimated"],
        (acks[-1] - begin) / 1e9,
        int(result["retransmissions"]),
        int(result["queue_drops"]),
        compared.events,
        compared.mismatch,
    )


def _estimate(row: dict[str, str], begin: int) -> tuple[float, float, float, float]:
    bwe, ere, cwnd = (float(row[name]) / SEGMENT for name in ("bwe", "ere", "cwnd"))
    return (int(row["time_ns"]) - begin) / 1e9, bwe, ere, cwnd
