# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a run is asked for, validated."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from downbeat.policies import ArgumentRefused, Policy, find
from downbeat.quantities import Buffer, buffer, duration, probability, rate, size

# Where the simulation meets the core: the 64-bit frame stream, with all bytes; parsed headers and lengths, faster.
TAPS = ("frame", "header")
SEGMENT_BYTES = 1460
# What a full segment costs on the bottleneck: TCP and IP headers, and the two bytes of ns-3's point-to-point framing.
OVERHEAD_BYTES = 20 + 20 + 2
NANOSECONDS_PER_SECOND = 1_000_000_000
Value = TypeVar("Value")


class Refused(Exception):
    """An argument is not what it should be; the message says what to write instead."""


@dataclass(frozen=True)
class Settings:
    """Rates in b/s, times in ns, sizes in bytes."""

    file: str  # empty: generated
    size: int
    rate: int
    rtt: int
    buffer: Buffer
    loss: float
    ssthresh: int
    initial_window: int  # segments
    startup: str
    steady: str
    startup_argument: int
    steady_argument: int
    seed: int
    waves: bool
    wall_limit: int  # seconds
    tap: str
    sack: bool = False  # ns-3's TCPs offer it

    @property
    def bandwidth_delay_product(self) -> int:
        return self.rate * self.rtt // (8 * NANOSECONDS_PER_SECOND)

    @property
    def ideal_goodput(self) -> float:
        """The bottleneck's payload rate, b/s."""
        return self.rate * SEGMENT_BYTES / (SEGMENT_BYTES + OVERHEAD_BYTES)

    def arguments(self) -> list[str]:
        """For the ns-3 program."""
        values = {
            "rate": self.rate,
            "rtt": self.rtt,
            "buffer": self.buffer.bytes,
            "buffer-packets": self.buffer.packets,
            "loss": self.loss,
            "ssthresh": self.ssthresh,
            "initial-window": self.initial_window,
            "segment-size": SEGMENT_BYTES,
            "startup": self.startup,
            "steady": self.steady,
            "startup-argument": f"{self.startup_argument:#x}",
            "steady-argument": f"{self.steady_argument:#x}",
            "sack": int(self.sack),
            "seed": self.seed,
            "wall-limit": self.wall_limit,
        }
        return [f"--{name}={value}" for name, value in values.items() if value != ""]

    def command(self, **changed: object) -> str:
        """The make line that repeats this run."""
        buffer_text = f"{self.buffer.packets}packets" if self.buffer.packets else f"{self.buffer.bytes}B"
        words = {
            "FILE": self.file,
            "SIZE": "" if self.file else self.size,
            "RATE": f"{self.rate}bps",
            "RTT": f"{self.rtt}ns",
            "BUFFER": buffer_text,
            "LOSS": self.loss or "",
            "SSTHRESH": self.ssthresh,
            "STARTUP": self.startup,
            "STEADY": self.steady,
            "STARTUP_ARGUMENT": hex(self.startup_argument) if self.startup_argument else "",
            "STEADY_ARGUMENT": hex(self.steady_argument) if self.steady_argument else "",
            "SEED": self.seed,
            "TAP": self.tap if self.tap != TAPS[0] else "",
            **changed,
        }
        return " ".join(["make sim", *(f"{name}={value}" for name, value in words.items() if value != "")])

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"segment_bytes": SEGMENT_BYTES, "bandwidth_delay_product": self.bandwidth_delay_product}

    def contents(self) -> bytes:
        """The file to send: the user's own, or `size` bytes that the seed decides."""
        if self.file:
            return Path(self.file).read_bytes()
        # A text seed is spread over the whole state; small numbers are not.
        return random.Random(f"downbeat {self.seed}").randbytes(self.size)


def parse(
    *,
    file: str,
    size_text: str,
    rate_text: str,
    rtt_text: str,
    buffer_text: str,
    loss_text: str,
    ssthresh_text: str,
    initial_window: int,
    startup: str,
    steady: str,
    startup_argument: str,
    steady_argument: str,
    policies: dict[str, dict[str, Policy]],
    seed: int,
    waves: bool,
    wall_limit: int,
    tap: str,
) -> Settings:
    """Settings from texts; raises Refused with the name of what is wrong."""
    if file and not Path(file).is_file():
        raise Refused(f"FILE={file}: no such file")
    if tap not in TAPS:
        raise Refused(f"TAP={tap}: no such tap, use {' or '.join(TAPS)}")
    bits = _named("RATE", rate_text, rate)
    rtt = _named("RTT", rtt_text, duration)
    product = bits * rtt // (8 * NANOSECONDS_PER_SECOND)
    length = Path(file).stat().st_size if file else _named("SIZE", size_text, size)
    if length == 0:
        raise Refused(f"FILE={file}: the file is empty")
    try:
        queue = buffer(buffer_text, product)
    except ValueError as error:
        raise Refused(f"BUFFER={buffer_text}: {error}") from None
    if queue.bytes and queue.bytes < SEGMENT_BYTES + OVERHEAD_BYTES:
        raise Refused(f"BUFFER={buffer_text}: {queue.bytes} bytes hold no full segment")
    ssthresh = _named("SSTHRESH", ssthresh_text, size)
    for name, value, low, high in (
        ("RATE", bits, 10_000, 1_000_000_000),
        ("RTT", rtt, 100_000, 10 * NANOSECONDS_PER_SECOND),
        ("SSTHRESH", ssthresh, SEGMENT_BYTES, 1 << 30),
        ("INITIAL_WINDOW", initial_window, 1, 255),
        ("SEED", seed, 1, (1 << 32) - 1),
    ):
        if not low <= value <= high:
            raise Refused(f"{name}: {value} is out of range, use {low} to {high}")
    return Settings(
        file=file,
        size=length,
        rate=bits,
        rtt=rtt,
        buffer=queue,
        loss=_named("LOSS", loss_text, probability),
        ssthresh=ssthresh,
        initial_window=initial_window,
        startup=startup,
        steady=steady,
        startup_argument=_argument("STARTUP", policies["startup"], startup, startup_argument),
        steady_argument=_argument("STEADY", policies["steady"], steady, steady_argument),
        seed=seed,
        waves=waves,
        wall_limit=wall_limit,
        tap=tap,
    )


def _argument(name: str, policies: dict[str, Policy], policy: str, text: str) -> int:
    try:
        return find(policies, policy).argument(text)
    except ArgumentRefused as error:
        raise Refused(f"{name}{'_ARGUMENT' if text else f'={policy}'}: {error}") from None


def sha256(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _named(name: str, text: str, reader: Callable[[str], Value]) -> Value:
    try:
        return reader(text)
    except ValueError as error:
        raise Refused(f"{name}={text}: {error}") from None
