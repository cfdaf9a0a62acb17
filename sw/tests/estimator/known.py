# SPDX-License-Identifier: BSD-2-Clause-Patent
"""State of the estimator's golden model. Times in ns, windows in segments with 16 fraction bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from downbeat_toe.estimator.binding import Address
from downbeat_toe.estimator.structures import Cause

from sw.tests.estimator import equations

TICK, TICKS = 10_000_000_000, 30  # SPAND's reports count for 30 ticks of 10 s
LONGEST = 60_000_000_000  # round trip
SEGMENT = 64  # bytes, the smallest segment size
DEFAULTS = {
    "prefixes": 25_000,
    "connections": 65_536,
    "endpoints": 65_536,
    "prefix_bits": 24,
    "prefix_bits_v6": 64,
    "initial_window": 10,
    "maximum_window": 65_535,
    "cap_to_known": 1,
    "miss_weight": 2,
    "spand_reports": 1,
    "spand_shift": 1,
    "spand_lower_bound": 0,
    "resume_maximum_jump": 65_535,
    "live": 60 * 10**9,
    "hold": 10**9,
    "resume_lifetime": 3600 * 10**9,
}


class Refusal(Exception):
    def __init__(self, cause: Cause) -> None:
        self.cause = cause


def require(condition: bool, cause: Cause) -> None:
    if not condition:
        raise Refusal(cause)


@dataclass
class Drops:
    last: int = 0
    interval: int = 0
    count: int = 0

    def add(self, time: int, more: int, thirds: int) -> None:
        if self.count == 0:
            self.last, self.count = time, 1
            return
        sample = max(0, time - self.last) // more
        for step in range(min(more, 16)):
            self.interval = equations.smoothed_whole(self.interval, self.count - 1 + step, sample, thirds)
        self.count += more
        self.last = max(self.last, time)


@dataclass
class Connection:
    name: int
    remote: Address
    opened: int
    time: int = 0
    touched: int | None = None
    steady: bool = False
    window: int = 0
    average: int = 0
    round_trip: int = 0
    segment_size: int = 0
    losses: int = 0
    restarts: int = 0
    retreats: int = 0
    growth: int = 0
    lost: bool = False
    drops: Drops = field(default_factory=Drops)
    acked: int = 0
    acks: int = 0
    spand_acked: int = 0
    spand_acks: int = 0
    transfer_acked: int = 0
    round_began: int = 0
    round_acked: int = 0
    delivered: int = 0


@dataclass
class Prefix:
    connections: list[Connection] = field(default_factory=list)  # in the order of their opens
    drops: Drops = field(default_factory=Drops)
    spand: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # tick, window, rtt, segments, acks


@dataclass
class Saved:
    time: int
    window: int
    round_trip: int
    user: int = 0


class Known:
    """Whole lists, without indices, and no sums kept from call to call."""

    def __init__(self, **changed: int) -> None:
        self.options = DEFAULTS | changed
        self.now = 0
        self.connections: dict[int, Connection] = {}
        self.prefixes: dict[str, Prefix] = {}  # those without connections in the order in which they lost the last
        self.saved: dict[Address, Saved] = {}  # in the order of their measures

    def key(self, remote: Address) -> str:
        """Of an address's prefix."""
        v6 = remote.version == 6
        bits = self.options["prefix_bits_v6" if v6 else "prefix_bits"]
        length = 128 if v6 else 32
        return f"{remote.version} {int(remote) >> (length - bits)}"

    def network(self, key: str) -> str:
        """The same as text."""
        version, _, number = key.partition(" ")
        bits = self.options["prefix_bits_v6" if version == "6" else "prefix_bits"]
        address: type[IPv4Address | IPv6Address] = IPv6Address if version == "6" else IPv4Address
        return f"{address(int(number) << (128 if version == '6' else 32) - bits)}/{bits}"

    def prefix(self, remote: Address) -> Prefix:
        """The address's own, or a new one: if there are as many as may be, the one gives way that lost its last
        connection first.

        Raises Refusal where all have connections.
        """
        key = self.key(remote)
        if key not in self.prefixes:
            if len(self.prefixes) == self.options["prefixes"]:
                idle = next((each for each, prefix in self.prefixes.items() if not prefix.connections), None)
                require(idle is not None, Cause.FULL)
                del self.prefixes[str(idle)]
            self.prefixes[key] = Prefix()
        return self.prefixes[key]

    def recent(self, prefix: Prefix) -> list[tuple[int, int, int, int, int]]:
        """SPAND's reports of the last TICKS."""
        return [each for each in prefix.spand if self.now // TICK - each[0] < TICKS]

    def save(self, remote: Address, time: int, window: int, round_trip: int) -> None:
        """For Careful Resume; `window` in bytes."""
        before = self.saved.pop(remote, None)
        if before is None and len(self.saved) == self.options["endpoints"]:
            del self.saved[next(iter(self.saved))]
        self.saved[remote] = Saved(time, window, round_trip, before.user if before else 0)


def unicast(remote: Address) -> bool:
    """A peer can have it."""
    if isinstance(remote, IPv6Address):
        return int(remote) > 1 and not remote.is_multicast
    first = int(remote) >> 24
    return first not in (0, 127) and first < 224
