# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Cases of `make bench NAME=latency`, and one run of its bench."""

from __future__ import annotations

import itertools
import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

LIMIT_SECONDS = 1800  # wall time
BYTE_NS = 8
HEADERS, AROUND, SMALLEST = 54, 24, 60  # bytes: Ethernet, IP, TCP; preamble, SFD, FCS and gap; a frame without FCS

MEASURES = {
    "receive": "SFD in to first application byte",
    "send": "Application byte to SFD out",
    "turn": "ACK's SFD in to data's SFD out",
}


@dataclass(frozen=True)
class Case:
    measure: str
    payload: int  # bytes of a segment
    flows: int
    load: str
    samples: int
    core_ps: int = 8000

    @property
    def core_mhz(self) -> float:
        return 1e6 / self.core_ps

    @property
    def frame_ns(self) -> int:
        """From one SFD to the next on a full wire."""
        return BYTE_NS * (max(self.payload + HEADERS, SMALLEST) + AROUND)


SAMPLES = {"idle": 300, "half": 1000, "full": 1000}
BOARD_PS = 16_000  # the core's clock on the boards (preset `board`)
CASES = [
    *(
        Case(measure, payload, flows, load, SAMPLES[load])
        for measure, payload, flows, load in itertools.product(MEASURES, (64, 1460), (1, 8, 16), SAMPLES)
    ),
    *(
        Case(measure, payload, 1, "idle", SAMPLES["idle"], BOARD_PS)
        for measure, payload in itertools.product(MEASURES, (64, 1460))
    ),
]


class BenchFailed(Exception):
    """The bench did not get through; the message is its own."""


def run(case: Case, seed: int, program: Path) -> dict[str, Any]:
    """The case's figures: `ns` and core `clocks`, its segments' share of the wire, and the engine's events for each."""
    words = [case.measure, case.payload, case.flows, case.load, case.samples, case.core_ps, seed]
    command = [str(program), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode:
        raise BenchFailed(f"{' '.join(command[1:])}: {done.stderr.strip()[-500:]}")
    showed = json.loads(done.stdout)
    ns = spread(showed["samples_ns"])
    return {
        **asdict(case),
        "ns": ns,
        "clocks": {name: round(value * 1000 / case.core_ps, 2) for name, value in ns.items()},
        "wire_share": round((case.samples - 1) * case.frame_ns / (showed["seconds"] * 1e9), 3),
        "events_per_segment": round(showed["events"] / case.samples, 2),
        "simulated_clocks": showed["simulated_clocks"],
    }


def spread(values: list[float]) -> dict[str, float]:
    """Each of them a value that was there."""
    at = np.percentile(values, [0, 50, 99, 100], method="inverted_cdf")
    return {name: round(float(value), 1) for name, value in zip(("min", "median", "p99", "max"), at, strict=True)}
