# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The congestion seam, as rtl/downbeat/congestion/Policy.scala: an event and the state in, the state after it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from sim.golden.congestion.packed_fields import PackedFields

FRACTION_BITS = 16  # fraction bits of a window
WINDOW_BITS = 48
MAXIMUM_WINDOW = 1 << 30  # bytes


class Kind(IntEnum):
    """Kinds of event, numbered as on the wires."""

    NONE = 0
    ESTABLISHED = 1
    ACKNOWLEDGED = 2
    LOSS = 3
    TIMEOUT = 4
    TIMEOUT_AGAIN = 5
    DUPLICATE = 6
    PARTIAL = 7
    RECOVERED = 8
    SENT = 9
    PAIRED = 10
    CALCULATED = 11
    RESTART = 12
    ESTIMATED = 13
    MEASURED = 14
    UNDONE = 15


# As the enumeration of CongestionEvent.scala spells them, and so the recorded events.
KIND_NAMES = {
    "none": Kind.NONE,
    "established": Kind.ESTABLISHED,
    "acknowledged": Kind.ACKNOWLEDGED,
    "loss": Kind.LOSS,
    "timeout": Kind.TIMEOUT,
    "timeoutAgain": Kind.TIMEOUT_AGAIN,
    "duplicate": Kind.DUPLICATE,
    "partial": Kind.PARTIAL,
    "recovered": Kind.RECOVERED,
    "sent": Kind.SENT,
    "paired": Kind.PAIRED,
    "calculated": Kind.CALCULATED,
    "restart": Kind.RESTART,
    "estimated": Kind.ESTIMATED,
    "measured": Kind.MEASURED,
    "undone": Kind.UNDONE,
}


class Pace(IntEnum):
    """When a segment leaves, seen from the one before it; numbered as on the wires."""

    CONFIGURED = 0
    SPACED = 1
    APART = 2
    ADJACENT = 3


@dataclass(frozen=True)
class Departure:
    """How the next new segment is to leave."""

    pace: Pace = Pace.CONFIGURED
    time: int = 0  # SPACED: ns per byte, 32 fraction bits; APART: ns, 16 fraction bits
    burst: int = 0  # a token bucket of 2^burst segments
    inverted: bool = False
    minimum_segments: int = 0  # segments
    probe: bool = False
    begins: bool = False


@dataclass(frozen=True)
class ProbeAck:
    """The ACK of a probe."""

    begins: bool = False
    disturbed: bool = False
    departure_gap: int = 0  # ns
    arrival_gap: int = 0  # ns
    round_trip: int = 0  # ns, from its departure to its ACK


@dataclass(frozen=True)
class Inline:
    """The result of inline measurement of the path, and the stream of probes that it wants."""

    valid: bool = False  # a stream is wanted
    alternate: bool = False  # every second segment is a probe
    gap: int = 0  # ns, the first
    step: int = 0  # ns, by which each later one is shorter
    capacity: int = 0  # bytes/s; zero: not known
    available: int = 0


@dataclass(frozen=True)
class DeliverySample:
    """The delivery rate that an ACK samples (draft-ietf-ccwg-bbr 4.1): that of P, the newest segment that it delivers.

    Bytes; totals count modulo 2^32.
    """

    delivered: int = 0  # C.delivered after the event
    prior_delivered: int = 0  # P.delivered
    interval: int = 0  # ns, 36 bits: the longer of the sending and the acknowledging
    lost: int = 0  # C.lost after the event
    prior_lost: int = 0  # P.lost
    tx_in_flight: int = 0  # C.inflight when P left, with P
    in_flight: int = 0  # C.inflight after the event
    app_limited: int = 0
    cwnd_limited: int = 0  # with P less than a segment of cwnd was left
    selective: int = 1  # the peer sends SACK


@dataclass(frozen=True)
class Calculation:
    """The request of a policy for a long calculation, and a note of 48 bits that comes back with the response."""

    request: int
    note: int = 0


@dataclass(frozen=True)
class Calculated:
    """The response."""

    response: int  # 64 bits
    note: int = 0  # 48 bits
    of_startup: bool = False  # the start-up policy made the request
    stale: bool = False  # something was lost since the request: the windows do not count


@dataclass(frozen=True)
class CongestionEvent:
    """One event, in bytes but where said."""

    kind: Kind
    starting_up: bool = False  # cwnd < ssthresh
    acked_bytes: int = 0
    uninflated: bool = False  # with LOSS: cwnd = ssthresh, nothing for the duplicates; with TIMEOUT: not in recovery
    recovering: bool = False  # after the event
    flight: int = 0  # before the event; with LOSS and TIMEOUT at most cwnd
    segment_size: int = 1460
    rtt: int | None = None  # ns; None: no sample
    rtt_first: bool = True  # the sample is the first of its round trip
    rtt_minimum: int = (1 << 36) - 1  # ns; all ones: none yet
    initial_window: int = 0  # segments
    initial_ssthresh: int = 0
    sent_probe: bool = False  # with SENT
    sent_ahead: bool = False  # with SENT: first half of an inverted pair
    probe: ProbeAck | None = None  # None: the event is no ACK of a probe
    arrival: int = 0  # ns, 48 bits: the stamp of an ACK's SFD
    repeated: bool = False  # the ACK repeats a number
    bwe: int = 0  # the connection's estimated rates over its smallest round trip; zero: none yet
    ere: int = 0
    sliding: int = 0  # ERE by the slides' rule
    inline: Inline = Inline()
    delivery: DeliverySample | None = None  # None: the event has no sample
    now: int = 0  # ns, 48 bits
    calculating: bool = False  # a calculation is under way, another would not be taken
    calculated: Calculated | None = None  # with CALCULATED

    @property
    def round_trip(self) -> int | None:
        """ns, of a probe or of a segment that the engine times."""
        return self.probe.round_trip if self.probe is not None else self.rtt

    @property
    def first_rtt(self) -> int | None:
        """ns, a sample that is the first of its round trip."""
        return self.rtt if self.rtt_first else None


@dataclass(frozen=True)
class Window:
    """cwnd and ssthresh: bytes with 16 fraction bits, 48 bits in all."""

    cwnd: int
    ssthresh: int


@dataclass(frozen=True)
class PolicyResult:
    """Windows and policy state as they are after an event."""

    window: Window
    policy_state: int
    departure: Departure | None = None  # None: the policy does not pace
    calculation: Calculation | None = None  # None: no request
    bound: int | None = None  # with LOSS: neither window nor ssthresh above so many bytes
    retreats: bool = False  # a window that was not safe is given up


class Calculator(Protocol):
    """A kind of long calculation."""

    @property
    def name(self) -> str: ...

    @property
    def request_bits(self) -> int: ...

    def unit(self) -> Callable[[int], int]:
        """The response to each request of one connection, with a memory of its own if it remembers."""


class Policy(Protocol):
    """A start-up or steady policy: one result per event, from that event and state alone."""

    @property
    def name(self) -> str: ...

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult: ...


def state_of(policy: Policy) -> type[PackedFields]:
    """The attribute `state` of a policy, or the state without fields of one that keeps nothing."""
    state: type[PackedFields] = getattr(policy, "state", PackedFields)
    return state


def calculator_of(policy: Policy) -> Calculator | None:
    """The attribute `calculator` of a policy that has one."""
    calculator: Calculator | None = getattr(policy, "calculator", None)
    return calculator


def of_bytes(count: int) -> int:
    """Whole bytes as a window."""
    return count << FRACTION_BITS


def wrap(value: int, bits: int = WINDOW_BITS) -> int:
    """The lowest `bits` of a value."""
    return value & ((1 << bits) - 1)
