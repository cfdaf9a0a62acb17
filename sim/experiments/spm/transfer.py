# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One transfer by the core over the thesis' dumbbell beside constant-rate traffic, and what its start-up policy
measured.

Times are the thesis': a full packet takes 8 ms on the bottleneck, each cross source takes a quarter of it. Packets are
1,502 bytes there, not 1,000, so that rates are 1.502 times the thesis'.
"""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sim.golden.calculation.gap_fit import FIRST_BITS, Request, Samples
from sim.golden.calculation.gap_window import CALCULATOR as GAP_WINDOW
from sim.golden.congestion.policies import STARTUP
from sim.golden.congestion.startup.hoe import Hoe
from sim.golden.congestion.startup.spm import Spm
from sim.ns3 import golden

SEGMENT_BYTES = 1460
PACKET_BYTES = 1502  # on ns-3's link
PACKET_MS = 8
RATE = PACKET_BYTES * 8 * 1000 // PACKET_MS  # b/s
ROUND_TRIP_MS = 240
QUEUE_PACKETS = 50
# The thesis does not tell its sources' packets. ns-2's have 210 bytes unless told. If they were as large as the probes,
# two sources' curve would meet y = x at 20 ms and not at 16 as in figure 4-7 (test_spm has the arithmetic).
CROSS_SHARE = 0.21  # of a probe
CROSS_BYTES = round(PACKET_BYTES * CROSS_SHARE) - 2  # without PPP's
FILE_SEGMENTS = 160  # the estimate is made before
STALL_SECONDS = 60  # virtual
LIMIT_SECONDS = 300  # wall time of one program


@dataclass
class Watched:
    """A calculator as the golden model has it, that keeps what it was asked and what it answered."""

    name: str
    request_bits: int
    make: Callable[[], Callable[[int], int]]
    asked: list[tuple[int, int]] = field(default_factory=list)

    def unit(self) -> Callable[[int], int]:
        unit = self.make()

        def answer(request: int) -> int:
            answered = unit(request)
            self.asked.append((request, answered))
            return answered

        return answer


@dataclass(frozen=True)
class Measured:
    """What a start-up policy made of a path; the gaps in ms, None: not known."""

    policy: str
    cross: int
    seed: int
    inverted: bool
    first_gap_ms: float | None
    samples: list[tuple[float, float]]  # gaps at departure and arrival, ms
    gap_ms: float | None  # the estimate
    segments: int | None  # and its window
    exit_seconds: float | None  # when the estimate was made, after the connection was
    retransmissions: int
    queue_drops: int
    events: int
    mismatch: str  # with the golden model; empty: none


def run(program: Path, work: Path, policy: str, cross: int, seed: int, *, inverted: bool = False) -> Measured:
    """The receiver acknowledges each segment; with `inverted` every second or after 200 ms, and pairs go the other way
    round."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "file"
    file.write_bytes(bytes(FILE_SEGMENTS * SEGMENT_BYTES))
    values: dict[str, object] = {
        "sender": "core",
        "file": file,
        "out": work,
        "rate": RATE,
        "rtt": ROUND_TRIP_MS * 1_000_000,
        "buffer-packets": QUEUE_PACKETS,
        "segment-size": SEGMENT_BYTES,
        "initial-window": 2,
        "ssthresh": 1 << 30,
        "startup": policy,
        "startup-argument": f"{int(inverted):#x}",
        "ack-every": 2 if inverted else 1,
        "cross": cross,
        "cross-rate": RATE // 4,
        "cross-packet": CROSS_BYTES,
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
    return _measured(policy, cross, seed, inverted, rows, result)


def _measured(
    policy: str, cross: int, seed: int, inverted: bool, rows: list[dict[str, str]], result: dict[str, Any]
) -> Measured:
    fit = Watched("gapfit", Spm().calculator.request_bits, lambda: Samples().response)
    quotient = Watched("gapwindow", GAP_WINDOW.request_bits, GAP_WINDOW.unit)
    models = {"spm": Spm(calculator=fit), "hoe": Hoe(calculator=quotient)}
    with patch.dict(STARTUP, models):
        compared = golden.compare(rows, startup_argument=int(inverted))
    first, samples, gap, window = _fitted(fit) if policy == "spm" else _divided(quotient)
    begin = next((int(row["time_ns"]) for row in rows if row["congestion"] == "established"), 0)
    exits = [int(row["time_ns"]) for row in rows if row["congestion"] == "calculated"]
    return Measured(
        policy,
        cross,
        seed,
        inverted,
        first_gap_ms=first,
        samples=samples,
        gap_ms=gap,
        segments=None if window is None else max(2, window // SEGMENT_BYTES),
        exit_seconds=(exits[-1] - begin) / 1e9 if exits and window is not None else None,
        retransmissions=int(result["retransmissions"]),
        queue_drops=int(result["queue_drops"]),
        events=compared.events,
        mismatch=compared.mismatch,
    )


Estimate = tuple[float | None, list[tuple[float, float]], float | None, int | None]


def _fitted(watched: Watched) -> Estimate:
    """First gap, samples that counted, estimated gap and window (bytes) of SPM."""
    first, samples, gap, window = None, list[tuple[float, float]](), None, None
    unit = Samples()
    for number, answer in watched.asked:
        request = Request.unpacked(number)
        first, holds = request.first_gap / 1e6, bool(answer >> 36)
        unit.response(number)
        if request.estimates and holds:
            estimate = unit.gap(request.first_gap)
            assert estimate is not None
            gap = (estimate << max(0, request.first_gap.bit_length() - FIRST_BITS)) / 1e6
            window = answer % (1 << 36)
        elif request.sampled and holds:
            samples.append((request.departure_gap / 1e6, request.arrival_gap / 1e6))
    return first, samples, gap, window


def _divided(watched: Watched) -> Estimate:
    """The same of Hoe, whose estimate is the first gap."""
    if not watched.asked:
        return None, [], None, None
    request, window = watched.asked[0]
    gap = request % (1 << 36) / 1e6
    return gap, [], gap, window
