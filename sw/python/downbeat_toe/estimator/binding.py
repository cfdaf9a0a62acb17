# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The estimator's calls with Python's types. What no field holds (NaN, a negative time) is a ValueError, not a wrapped
number."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Address, IPv6Address, ip_address

from downbeat_toe.estimator.library import load
from downbeat_toe.estimator.structures import (
    CAddress,
    Cause,
    COptions,
    CPrefix,
    CRequest,
    CStart,
    Method,
)
from downbeat_toe.refused import Refused
from downbeat_toe.structures import Pace, PathReport, Phase

Address = IPv4Address | IPv6Address


@dataclass(frozen=True)
class Report:
    """struct downbeat_path_report: times in ns, windows in bytes, `average_window` with 16 fraction bits."""

    time: int
    connection: int
    remote: Address
    cwnd: int
    segment_size: int = 1460
    phase: Phase = Phase.STARTUP
    ssthresh: int = 0
    smoothed_rtt: int = 0
    smallest_rtt: int = 0
    rtt_variation: int = 0
    average_window: int = 0
    acked: int = 0
    acks: int = 0
    losses: int = 0
    loss_time: int = 0
    loss_window: int = 0
    loss_in_avoidance: int = 0
    restarts: int = 0
    retreats: int = 0
    growth: int = 0


@dataclass(frozen=True)
class Request:
    """struct downbeat_start_request."""

    remote: Address
    method: Method
    transfer_bytes: int = 0
    round_trip: int = 0
    connection: int = 0
    segment_size: int = 1460


@dataclass(frozen=True)
class Start:
    """struct downbeat_host_start."""

    method: Method
    known: bool
    initial_window: int
    pace: Pace
    ssthresh: int
    gap: int
    until: int
    round_trip: int
    miss_next: int
    miss_rate: int
    miss_cap: int
    saved_window: int
    saved_rtt: int
    jump: int
    reason: str


@dataclass(frozen=True)
class PrefixState:
    """struct downbeat_prefix_state."""

    address: Address
    bits: int
    open: int
    steady: int
    starting: int
    starting_sum: int
    oldest: int
    oldest_window: int
    oldest_average: int
    last_drop: int
    drop_interval: int
    oldest_interval: int
    drops: int
    spand_reports: int
    acks_ratio: int
    spand_window: int
    spand_rtt: int


@dataclass
class Options:
    """Differences from the library's defaults, by the names of struct downbeat_estimator_options."""

    paper: bool = False
    changed: dict[str, int] = field(default_factory=dict)


def to_c(address: Address) -> CAddress:
    mapped = IPv6Address(f"::ffff:{address}") if isinstance(address, IPv4Address) else address
    return CAddress((ctypes.c_uint8 * 16)(*mapped.packed))


def from_c(address: CAddress) -> Address:
    found = IPv6Address(bytes(address.bytes))
    return found.ipv4_mapped or found


def filled(record: ctypes.Structure, values: dict[str, object]) -> None:
    """Sets members; ctypes alone would cut a number that does not fit."""
    for name, value in values.items():
        if isinstance(value, IPv4Address | IPv6Address):
            setattr(record, name, to_c(value))
            continue
        size = getattr(type(record), name).size
        if not isinstance(value, int) or not 0 <= value < 1 << (8 * size):
            raise ValueError(f"{name} is {value}: use a whole number from 0 to {(1 << (8 * size)) - 1}")
        setattr(record, name, value)


class Estimator:
    """One estimator; not for several threads at once."""

    def __init__(self, options: Options | None = None, library: ctypes.CDLL | None = None) -> None:
        self._estimator: int | None = None  # first: __del__ also ends what could not be made
        self._library = library or load()
        options, raw, problem = options or Options(), COptions(), ctypes.c_char_p()
        prepare = "paper_mode" if options.paper else "defaults"
        getattr(self._library, f"downbeat_estimator_{prepare}")(raw)
        filled(raw, dict(options.changed))
        self._estimator = self._library.downbeat_estimator_create(raw, problem)
        if not self._estimator:
            raise Refused(f"the estimator's options: {(problem.value or b'').decode()}")

    def __del__(self) -> None:
        if self._estimator:
            self._library.downbeat_estimator_destroy(self._estimator)

    def rules(self, text: str) -> None:
        """Prefixes for the longest match, one a line."""
        written = text.encode()
        if line := self._library.downbeat_estimator_rules(self._estimator, written, len(written)):
            raise Refused(f"line {line} of the prefix table is not a prefix: write 192.0.2.0/24 or 2001:db8::/48")

    def open(self, now: int, connection: int, remote: Address) -> Cause:
        _whole(now, connection)
        return Cause(self._library.downbeat_estimator_open(self._estimator, now, connection, to_c(remote)))

    def report(self, report: Report, now: int | None = None) -> Cause:
        """`now` is the report's time if it is not given."""
        values = {each.name: getattr(report, each.name) for each in fields(report)}
        connection, remote = values.pop("connection"), to_c(values.pop("remote"))
        raw = PathReport()
        filled(raw, values)
        now = report.time if now is None else now
        _whole(now, connection)
        return Cause(self._library.downbeat_estimator_report(self._estimator, now, connection, remote, raw))

    def close(self, now: int, connection: int) -> Cause:
        _whole(now, connection)
        return Cause(self._library.downbeat_estimator_close(self._estimator, now, connection))

    def transfer(
        self,
        now: int,
        remote: Address,
        window: int,
        round_trip: int,
        segments: int = 0,
        acks: int = 0,
        final: bool = False,
    ) -> Cause:
        """SPAND's report from elsewhere; window in segments with 8 fraction bits."""
        _whole(now, window, round_trip, segments, acks)
        call = self._library.downbeat_estimator_transfer
        return Cause(call(self._estimator, now, to_c(remote), window, round_trip, segments, acks, int(final)))

    def request(self, now: int, request: Request) -> tuple[Cause, Start]:
        """The start that a new connection would get."""
        return self._requested("request", now, request)

    def take(self, now: int, request: Request) -> tuple[Cause, Start]:
        """The same for a connection that uses it."""
        return self._requested("take", now, request)

    def prefix(self, now: int, remote: Address) -> PrefixState | None:
        _whole(now)
        raw = CPrefix()
        known = self._library.downbeat_estimator_prefix(self._estimator, now, to_c(remote), raw)
        return _prefix(raw) if known else None

    def prefixes(self, now: int) -> Iterator[PrefixState]:
        _whole(now)
        cursor, raw = ctypes.c_size_t(0), CPrefix()
        while self._library.downbeat_estimator_next_prefix(self._estimator, now, cursor, raw):
            yield _prefix(raw)

    def save(self, now: int) -> str:
        _whole(now)
        length = self._library.downbeat_estimator_save(self._estimator, now, None, 0)
        text = ctypes.create_string_buffer(length)
        self._library.downbeat_estimator_save(self._estimator, now, text, length)
        return text.raw.decode()

    def load(self, now: int, text: str, elapsed: int = 0) -> Cause:
        _whole(now, elapsed)
        written = text.encode()
        return Cause(self._library.downbeat_estimator_load(self._estimator, now, elapsed, written, len(written)))

    def refused(self, cause: Cause) -> int:
        return int(self._library.downbeat_estimator_refused(self._estimator, cause))

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self._library.downbeat_estimator_memory(self._estimator))

    def _requested(self, call: str, now: int, request: Request) -> tuple[Cause, Start]:
        _whole(now)
        raw, start = CRequest(), CStart()
        filled(raw, {each.name: getattr(request, each.name) for each in fields(request)})
        cause = Cause(getattr(self._library, f"downbeat_estimator_{call}")(self._estimator, now, raw, start))
        values = {each.name: getattr(start, each.name) for each in fields(Start)}
        values |= {"method": Method(start.method), "pace": Pace(start.pace), "known": bool(start.known)}
        return cause, Start(**(values | {"reason": start.reason.decode()}))


def _whole(*values: int) -> None:
    for value in values:
        if not isinstance(value, int) or not 0 <= value < 1 << 64:
            raise ValueError(f"{value} is not a time, name or count: use a whole number below 2^64")


def _prefix(raw: CPrefix) -> PrefixState:
    values = {each.name: getattr(raw, each.name) for each in fields(PrefixState)}
    address = from_c(raw.address)
    bits = raw.bits - 96 if isinstance(address, IPv4Address) and raw.bits >= 96 else raw.bits
    return PrefixState(**(values | {"address": address, "bits": bits}))


def parse_address(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError:
        raise Refused(f"'{text}' is not an address: write 192.0.2.1 or 2001:db8::1") from None
