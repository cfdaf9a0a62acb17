# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Pairs of one gap after another over a path: out of the gate, through ns-3, into the receiver's stamps.

The pairs are sent whatever comes back, so the three parts run one after another: gap_bench launches the frames and says
when each SFD stood at the pins, the experiments' engine takes them over the path, gap_bench stamps them where they arrive.
"""

from __future__ import annotations

import functools
import json
import random
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import stdev
from typing import Any

from sim.experiments.engine.plan import lines
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.engine.schema.load import load
from sim.experiments.names import FILES

FILE = FILES["thesis-4-6"]
GAPS_MS = tuple(range(4, 44, 4))
FRAME_BYTES = 998 + 18  # a packet of 1,000 bytes as the papers count them: on ns-3's link with 2 bytes of PPP
BYTE_NS = 8
SECOND = 10**9 << 16  # in the units of stamps, 2^-16 ns
LIMIT_SECONDS = 1200  # wall time of one program

Stamps = dict[int, int]  # by number of the frame: pair n is 2 n and 2 n + 1


@dataclass(frozen=True)
class Programs:
    bench: Path
    path: Path


@dataclass(frozen=True)
class Sent:
    """Pairs of one gap as they stood at the sender's pins."""

    gap_ms: int
    seconds: float
    stamps: Stamps
    max_error_ns: float  # largest error of the gaps


def send(programs: Programs, gap_ms: int, seconds: float, seed: int) -> Sent:
    """Pairs whose starts are a second apart on average: a rest of a tenth, the rest of it Poisson."""
    draw = random.Random(seed * 1000 + gap_ms)
    gap = gap_ms * 10**6 << 16
    rest = SECOND // 10 + gap
    launches: Stamps = {}
    start = SECOND
    while start < seconds * SECOND:
        launches[len(launches)] = start
        launches[len(launches)] = start + gap
        start += rest + int(draw.expovariate(1 / (SECOND - rest)))
    lines = (f"{number} {FRAME_BYTES} {launch}" for number, launch in launches.items())
    figures = _bench(programs, "launch", lines, receive_ppm=0)
    if figures["early"] or figures["late"] or figures["unexpected"]:
        raise RuntimeError(
            f"gaps of {gap_ms} ms: {figures['early']} frames early, {figures['late']} late at the sender"
        )
    stamps = dict(figures["stamps"])
    errors = (_gap(stamps, pair) - gap for pair in range(len(stamps) // 2))
    return Sent(gap_ms, seconds, stamps, max(abs(error) for error in errors) / 65536)


def receive(programs: Programs, runs: Sequence[Sent], cross: int, seed: int) -> dict[str, Any]:
    """The gaps as the receiver's stamps have them, beside so many constant-rate sources; each run draws their
    phases."""
    gaps: list[int] = []
    errors: list[int] = []
    means: list[float] = []  # means of the runs: pairs of one run share its phases
    sent_pairs = 0
    for number, sent in enumerate(runs):
        came = _over_the_path(programs, sent, cross, seed * 1000 + number)
        lines = (f"{frame} {FRAME_BYTES} {instant}" for frame, instant in came.items())
        stamps: Stamps = dict(_bench(programs, "receive", lines, receive_ppm=50)["stamps"])
        sent_pairs += len(sent.stamps) // 2
        # A pair that lost a packet in the queue is left out.
        whole = [pair for pair in range(len(sent.stamps) // 2) if 2 * pair in stamps and 2 * pair + 1 in stamps]
        own = [_gap(stamps, pair) for pair in whole]
        gaps += own
        means += [sum(own) / len(own) / 65536e6] if own else []
        errors += [abs(_gap(stamps, pair) - _gap(came, pair)) for pair in whole]
    if not gaps:
        raise RuntimeError(f"no pair of {runs[0].gap_ms} ms came back in {len(runs)} runs of {runs[0].seconds:g} s")
    milliseconds = sorted(gap / 65536e6 for gap in gaps)
    return {
        "gap_ms": runs[0].gap_ms,
        "pairs": len(gaps),
        "disturbed": sent_pairs - len(gaps),
        "received_ms": sum(milliseconds) / len(gaps),
        "standard_error_ms": stdev(means) / sqrt(len(means)) if len(means) > 1 else 1e3,
        "p5_ms": milliseconds[len(gaps) // 20],
        "p95_ms": milliseconds[-1 - len(gaps) // 20],
        "max_sent_error_ns": max(sent.max_error_ns for sent in runs),
        "max_measured_error_ns": max(errors) / 65536,
    }


def _over_the_path(programs: Programs, sent: Sent, cross: int, seed: int) -> Stamps:
    """When each frame's SFD comes to the receiver: behind the preamble of a frame that goes out once it has come in
    whole."""
    last_byte, preamble = BYTE_NS * (FRAME_BYTES + 1) << 16, 8 * BYTE_NS << 16
    leaves = [(stamp + last_byte + 0xFFFF) >> 16 for stamp in sent.stamps.values()]
    result = json.loads(_run([programs.path], [plan(cross, seed, leaves, sent.seconds + 10)]))  # longer than any queue
    if result["failure"]:
        raise RuntimeError(result["failure"])
    arrivals = zip(sent.stamps, result["pairs"][0]["arrivals"], strict=True)
    return {frame: (at << 16) + preamble for frame, at in arrivals if at >= 0}


def plan(cross: int, seed: int, leaves: Sequence[int], until: float) -> str:
    """The plan of one run over the dumbbell of FILE beside so many constant-rate sources; `leaves` in ns."""
    experiment = _network(until)
    sources = experiment.traffic[0].model_copy(update={"count": cross})
    text = lines.plan(experiment.model_copy(update={"traffic": (sources,)}), {}, seed)
    return re.sub(r"^(pairs .*leaves=).*$", lambda match: match[1] + ",".join(map(str, leaves)), text, flags=re.M)


@functools.cache
def _network(until: float) -> Experiment:
    return load(FILE, None, duration=f"{until} s").experiment


def _gap(stamps: Stamps, pair: int) -> int:
    return stamps[2 * pair + 1] - stamps[2 * pair]


def _bench(programs: Programs, case: str, lines: Iterable[str], receive_ppm: float) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(_run([programs.bench, case, f"--receive-ppm={receive_ppm}"], lines))
    if not figures["all_back"] or figures["wrong_frames"] or not figures["clock_right"]:
        raise RuntimeError(f"gap_bench {case}: frames are missing or damaged")
    return figures


def _run(command: list[object], lines: Iterable[str]) -> str:
    words = [str(word) for word in command]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout
