# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Settings of a run, validated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from downbeat_toe.policies import ArgumentRefused, Policy, find
from downbeat_toe.quantities import Buffer, buffer, probability
from downbeat_toe.refused import Refused as Refused

from sim.lib import ranges
from sim.lib.contents import generated

# Tap between simulation and core: the 64-bit frame stream, with all bytes; parsed headers and lengths, faster.
TAPS = ("frame", "header")
SEGMENT_BYTES = 1460
# Bytes of a segment on the bottleneck beside its payload: TCP and IP headers, and two of ns-3's point-to-point framing.
OVERHEAD_BYTES = 20 + 20 + 2
NANOSECONDS_PER_SECOND = 1_000_000_000
LARGEST_BUFFER = 4 * 10**9  # bytes, or packets
Value = TypeVar("Value")


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
    startup_text: str  # the policy and its argument in people's units
    steady_text: str
    seed: int
    waves: bool
    wall_limit: int  # seconds
    tap: str

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
            "INITIAL_WINDOW": self.initial_window,
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
        return generated(f"downbeat {self.seed}", self.size)


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
    if file and Path(file).is_dir():
        raise Refused(f"FILE={file}: this is a directory, use a file")
    if file and not Path(file).is_file():
        raise Refused(f"FILE={file}: no such file")
    if tap not in TAPS:
        raise Refused(f"TAP={tap}: no such tap, use {' or '.join(TAPS)}")
    bits = _named("RATE", rate_text, ranges.RATE.value)
    rtt = _named("RTT", rtt_text, ranges.RTT.value)
    product = bits * rtt // (8 * NANOSECONDS_PER_SECOND)
    length = Path(file).stat().st_size if file else _named("SIZE", size_text, ranges.SIZE.value)
    if length == 0:
        raise Refused(f"FILE={file}: the file is empty")
    queue = _named("BUFFER", buffer_text, lambda text: buffer(text, product))
    if queue.bytes and queue.bytes < SEGMENT_BYTES + OVERHEAD_BYTES:
        raise Refused(f"BUFFER={buffer_text}: {queue.bytes} bytes hold no full segment")
    if max(queue.bytes, queue.packets) > LARGEST_BUFFER:
        raise Refused(f"BUFFER={buffer_text}: use a size up to {LARGEST_BUFFER // 10**9}GB")
    ssthresh = _named("SSTHRESH", ssthresh_text, ranges.SSTHRESH.value)
    _named("INITIAL_WINDOW", str(initial_window), ranges.INITIAL_WINDOW.value)
    _named("SEED", str(seed), ranges.SEED.value)
    _named("WALL_LIMIT", str(wall_limit), ranges.WALL_LIMIT.value)
    chosen = {
        "startup": _chosen("STARTUP", policies["startup"], startup, startup_argument),
        "steady": _chosen("STEADY", policies["steady"], steady, steady_argument),
    }
    return Settings(
        file=file,
        size=length,
        rate=bits,
        rtt=rtt,
        buffer=queue,
        loss=_named("LOSS", loss_text, probability),
        ssthresh=ssthresh,
        initial_window=initial_window,
        **policy_settings(*chosen["startup"]),
        **policy_settings(*chosen["steady"]),
        seed=seed,
        waves=waves,
        wall_limit=wall_limit,
        tap=tap,
    )


def policy_settings(policy: Policy, argument: int) -> dict[str, Any]:
    """Settings' three fields of a policy: its name, its argument's bits, and both as people write them."""
    given = policy.text(argument) or ("no argument" if policy.fields else "")
    text = f"{policy.name} ({given})" if given else policy.name
    return {policy.family: policy.name, f"{policy.family}_argument": argument, f"{policy.family}_text": text}


def _chosen(name: str, policies: dict[str, Policy], policy: str, text: str) -> tuple[Policy, int]:
    try:
        found = find(policies, policy)
        return found, found.argument(text)
    except ArgumentRefused as error:
        raise Refused(f"{name}{'_ARGUMENT' if text else f'={policy}'}: {error}") from None


def sha256(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _named(name: str, text: str, reader: Callable[[str], Value]) -> Value:
    try:
        return reader(text)
    except ValueError as error:
        raise Refused(f"{name}={text}: {error}") from None
