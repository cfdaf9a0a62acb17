# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One connection over ns-3's dumbbell, and what Eq. 12 of Iguchi's thesis says of it."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sim.golden.congestion.replay import replay
from sim.golden.congestion.steady.logistic import argument

SEGMENT = 1460  # bytes
INITIAL_WINDOW = 2  # segments
# A full segment on the bottleneck: IP and TCP headers, and two bytes of point-to-point framing. A UDP packet has these
# two.
WIRE = SEGMENT + 42
MEAN_UDP, FRAMING = (7 * 40 + 4 * 576 + 1500) / 12, 2
EPSILON = 1.95
WALL_LIMIT = 3600  # seconds


class RunFailed(Exception):
    """The program gave no result; the message says why."""


@dataclass(frozen=True)
class Bottleneck:
    """A bottleneck between faster links; its buffer is a bandwidth-delay product."""

    rate: int  # b/s
    rtt: float  # s, without serialisation
    access_factor: float = 2.0  # the access links' rate in rates of the bottleneck
    udp: int = 0  # b/s of IP packets beside the connection
    later: tuple[tuple[float, int], ...] = ()  # virtual seconds, and what UDP has from then on

    def steps(self) -> list[tuple[float, Bottleneck]]:
        """From when on the path is which."""
        return [(0.0, replace(self, later=())), *((at, replace(self, udp=udp, later=())) for at, udp in self.later)]

    @property
    def capacity(self) -> float:
        """K: bytes of payload a second if all that passes are full segments, as a window counts them."""
        return self.rate / 8 * SEGMENT / WIRE

    @property
    def available(self) -> float:
        """A: what UDP leaves of it."""
        return (self.rate - self.udp * (1 + FRAMING / MEAN_UDP)) / 8 * SEGMENT / WIRE

    def seconds_between(self, begin: float, end: float, target: float) -> float:
        """That Eq. 10 takes from one window to another on the same side of w*."""
        share = (self.capacity + 9 * self.available) / (10 * self.capacity)
        return math.log(end * (target - begin) / (begin * (target - end))) / (EPSILON * share)


@dataclass(frozen=True)
class Run:
    """What the program told: samples in time, and counts."""

    sender: str
    path: Bottleneck
    data: dict[str, Any]

    @property
    def samples(self) -> list[tuple[float, float]]:
        """Seconds since the connection was made, cwnd in bytes."""
        made = self.data["established"]
        return [
            (at - made, cwnd) for at, cwnd in zip(self.data["seconds"], self.data["cwnd"], strict=True) if at >= made
        ]

    @cached_property
    def target(self) -> float:
        """w* with the core's own tau, bytes."""
        path = self.path
        return (path.capacity + 9 * path.available) / 10 * float(self.data["smallest_rtt_ns"]) / 1e9

    @property
    def seconds_to_99(self) -> float | None:
        """Until the window is 99 % of w*."""
        return next((at for at, cwnd in self.samples if cwnd >= 0.99 * self.target), None)

    @property
    def equation_12(self) -> float:
        """The same from the equation."""
        return self.path.seconds_between(INITIAL_WINDOW * SEGMENT, 0.99 * self.target, self.target)

    @property
    def seconds_to_full(self) -> float | None:
        """Until a whole second begins in which 99 % of what is available arrives."""
        seconds, received, made = self.data["seconds"], self.data["received"], self.data["established"]
        ahead = 0
        for index, at in enumerate(seconds):
            while ahead < len(seconds) - 1 and seconds[ahead] < at + 1:
                ahead += 1
            if seconds[ahead] < at + 1:
                return None
            if at >= made and received[ahead] - received[index] >= 0.99 * self.path.available:
                return float(at - made)
        return None

    def goodput(self, last: float) -> float:
        """Share of what is available that arrived in the last seconds."""
        seconds, received = self.data["seconds"], self.data["received"]
        first = next(index for index, at in enumerate(seconds) if at >= seconds[-1] - last)
        return float((received[-1] - received[first]) / (seconds[-1] - seconds[first]) / self.path.available)

    @property
    def goodput_of_target(self) -> float:
        """Share of the link that a window of w* fills: whole segments, sent by two as the receiver acknowledges them.

        tau is the handshake's. Two segments that leave together are acknowledged when the second has passed the
        bottleneck behind the first, and their times on the three links come on top of tau's.
        """
        path = self.path
        bottleneck, access = (WIRE * 8 / rate for rate in (path.rate, path.rate * path.access_factor))
        round_trip = float(self.data["smallest_rtt_ns"]) / 1e9 + 2 * bottleneck + 2 * access
        return self.target // SEGMENT * bottleneck / round_trip

    def drops_after(self, seconds: float) -> int:
        """Packets, of the connection or of UDP, from so long after the connection was made."""
        at = next((i for i, s in enumerate(self.data["seconds"]) if s >= self.data["established"] + seconds), -1)
        return int(self.data["queue_drops"] - self.data["drops"][at])


def run(program: Path, sender: str, path: Bottleneck, duration: float, seed: int, events: Path | None = None) -> Run:
    """`sender`: core, or ns-3's reno, highspeed, scalable. `events`: where the core's are to be recorded."""
    values = {
        "sender": sender,
        "rate": path.rate,
        "link-rate": int(path.rate * path.access_factor),
        "rtt": round(path.rtt * 1e9),
        "initial-window": INITIAL_WINDOW,
        "seed": seed,
        "steps": ",".join(_step(at, then) for at, then in path.steps()),
        "duration": duration,
        "events": events or "",
    }
    begin = time.monotonic()
    command = [str(program), *(f"--{name}={value}" for name, value in values.items() if value != "")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WALL_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{sender}, {path}: not done within {WALL_LIMIT} s") from None
    if done.returncode:
        raise RunFailed(f"{sender}, {path}: status {done.returncode}: {done.stderr[-500:]}")
    data: dict[str, Any] = json.loads(done.stdout)
    if data["failure"]:
        raise RunFailed(f"{sender}, {path}: {data['failure']}")
    return Run(sender, path, data | {"wall_seconds": time.monotonic() - begin})


def _step(at: float, path: Bottleneck) -> str:
    told = argument(path.capacity, path.available)
    return f"{at}:{path.udp}:{told & (1 << 64) - 1}:{told >> 64}"


def mismatches(events: Path, path: Bottleneck) -> tuple[int, int]:
    """Recorded events, and those after which the golden models have other windows."""
    names = {"startup": "standard", "steady": "logistic", "initial_window": INITIAL_WINDOW}
    nothing: dict[str, str | int] = {
        "estimates": 0,
        "arrival": 0,
        "repeated": 0,
        "sent_probe": 0,
        "sent_ahead": 0,
        "probe": "",
        "departure_gap": 0,
        "arrival_gap": 0,
        "probe_round_trip": 0,
    }
    with events.open(newline="") as file:
        rows = list(csv.DictReader(file))
    made = next(index for index, row in enumerate(rows) if row["kind"] == "established")
    whole = [row | names | nothing | {"initial_ssthresh": INITIAL_WINDOW * SEGMENT} for row in rows[made:]]
    windows = replay(whole, steady_argument=argument(path.capacity, path.available))
    differ = sum(
        (int(row["cwnd"]), int(row["ssthresh"])) != (window.cwnd, window.ssthresh)
        for row, window in zip(whole, windows, strict=True)
    )
    return len(whole), differ
