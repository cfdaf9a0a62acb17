# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Numbers that nobody foretells: what the directory makes of 4-tuples with SipHash-2-4 under its secret
(docs/reference/flow.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sim.golden.flow.siphash import siphash

# Remote address, remote port, local port; and the VLAN's number, where it has one.
Tuple = tuple[int, int, int] | tuple[int, int, int, int]

PURPOSES = ("lookup key", "connection", "port", "cookie")
PERIOD_NS = 2**36
SEGMENT_SIZES = (64, 536, 1200, 1360, 1400, 1440, 1460, 8960)


class Terms(NamedTuple):
    """The contents of a cookie: the client's initial sequence number, when it was made, a place in `SEGMENT_SIZES`."""

    sequence: int = 0
    period: int = 0
    size: int = 0


@dataclass(frozen=True)
class Numbers:
    secret: int
    local_ip: int

    def _hash(self, purpose: str, key: Tuple, terms: Terms = Terms(), local_ip: int | None = None) -> int:  # noqa: B008
        remote_ip, remote_port, local_port, *vlan = key
        fields = (
            (remote_ip, 4),
            (self.local_ip if local_ip is None else local_ip, 4),
            (local_port, 2),
            (remote_port, 2),
            (terms.sequence, 4),
            (terms.period, 2),
            (terms.size, 1),
            (PURPOSES.index(purpose), 1),
            *((number, 1) for number in vlan),
        )
        return siphash(self.secret, b"".join(value.to_bytes(size, "little") for value, size in fields))

    @property
    def lookup_key(self) -> int:
        return self._hash("lookup key", (0, 0, 0), local_ip=0)

    def initial_sequence(self, key: Tuple, now: int) -> int:
        """RFC 6528 3: a clock of 4.096 us and the 4-tuple's own number."""
        return ((now >> 12) + self._hash("connection", key)) % 2**32

    def timestamp_offset(self, key: Tuple) -> int:
        return self._hash("connection", key) >> 32

    def port_offset(self, key: Tuple) -> int:
        """The key of a remote end: its local port is 0."""
        return self._hash("port", key) % 2**15

    def cookie(self, key: Tuple, terms: Terms) -> int:
        hashed = self._hash("cookie", key, terms) % 2**32
        return hashed & 0xFFFFFF00 | ((terms.period % 32 << 3 | terms.size) ^ hashed >> 24)

    def terms_of(self, key: Tuple, sequence: int, acknowledgment: int, now: int) -> Terms | None:
        """The contents of the cookie that this ACK brings back; none if it is not ours, or too old."""
        cookie = (acknowledgment - 1) % 2**32
        for age in range(3):
            for size in range(len(SEGMENT_SIZES)):
                terms = Terms((sequence - 1) % 2**32, (period_of(now) - age) % 2**12, size)
                if self.cookie(key, terms) == cookie:
                    return terms
        return None


def period_of(now: int) -> int:
    return now // PERIOD_NS


def size_of(mss: int) -> int:
    """The place of the largest size that is not above `mss`."""
    return max(place for place, size in enumerate(SEGMENT_SIZES) if size <= max(mss, SEGMENT_SIZES[0]))
