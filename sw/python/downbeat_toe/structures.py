# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Types of both interfaces: libdownbeat (downbeat.h) and the simulated core (downbeat_sim_core.h). Generated from
sw/api by `make generate`; do not edit."""

from __future__ import annotations

from ctypes import Structure, c_char_p, c_uint8, c_uint16, c_uint32, c_uint64
from enum import IntEnum

from downbeat_toe.event_fields import EVENT_FIELDS

NEVER = 18446744073709551615


class Error(IntEnum):
    """Result of a call, and why a connection ended. In C: enum downbeat_error."""

    OK = 0
    WOULD_BLOCK = -1
    INVALID_ARGUMENT = -2
    UNKNOWN_PRESET = -3
    UNKNOWN_POLICY = -4
    UNKNOWN_CONNECTION = -5
    NOT_LISTENING = -6
    SHUT_DOWN = -7
    REFUSED = -8
    RESET = -9
    TIMED_OUT = -10
    ABORTED = -11
    OUT_OF_RESOURCES = -12
    FRAME_SIZE = -13
    NO_WAVES = -14
    UNREACHABLE = -15
    POLICY_ARGUMENT = -16
    ADDRESS_IN_USE = -17
    NO_DEVICE = -18
    WRONG_VERSION = -19
    NO_PERMISSION = -20
    DEVICE_GONE = -21
    NO_PORT = -22
    NOT_SUPPORTED = -23
    IN_FLIGHT = -24
    MEMORY_ERROR = -25


class State(IntEnum):
    """A connection's state (RFC 9293 3.3.2). In C: enum downbeat_state."""

    CLOSED = 0
    SYN_SENT = 1
    SYN_RECEIVED = 2
    ESTABLISHED = 3
    FIN_WAIT_1 = 4
    FIN_WAIT_2 = 5
    CLOSE_WAIT = 6
    CLOSING = 7
    LAST_ACK = 8
    TIME_WAIT = 9


class Phase(IntEnum):
    """The rule that grows the window, or loss recovery. In C: enum downbeat_phase."""

    STARTUP = 0
    AVOIDANCE = 1
    RECOVERY = 2


class Pace(IntEnum):
    """Pacing of a connection's first window. In C: enum downbeat_pace."""

    NONE = 0
    EVEN = 1
    BUCKET = 2


class Source(IntEnum):
    """Source of a start. In C: enum downbeat_source."""

    NONE = 0
    OWN = 1
    GATEWAY = 2


class StartValues(Structure):
    """A start by the host: the first window of a connection. All zero: the host knows nothing of the path. In C:
    struct downbeat_start_values."""

    _fields_ = (
        ("window", c_uint32),
        ("pace", c_uint32),
        ("gap", c_uint64),
        ("until", c_uint64),
        ("round_trip", c_uint64),
    )


class Parameters(Structure):
    """Policies and limits of a connection. All zero is a good default. In C: struct downbeat_parameters."""

    _fields_ = (
        ("startup", c_char_p),
        ("steady", c_char_p),
        ("initial_window", c_uint32),
        ("ssthresh", c_uint32),
        ("spacing", c_uint64),
        ("no_delay", c_uint32),
        ("nssr", c_uint32),
        ("ecn", c_uint32),
        ("reno_recovery", c_uint32),
        ("no_tail_loss_probe", c_uint32),
        ("no_rack", c_uint32),
        ("no_undo", c_uint32),
        ("no_prr", c_uint32),
        ("no_growth_limit", c_uint32),
        ("keep_alive", c_uint32),
        ("user_timeout", c_uint32),
        ("differentiated_services", c_uint32),
        ("time_to_live", c_uint32),
        ("startup_argument", c_uint64 * 2),
        ("steady_argument", c_uint64 * 2),
        ("start", StartValues),
    )


class PathReport(Structure):
    """Path of a connection by its newest state: the RTL's record PathReport. Counters run since the establishment.
    In C: struct downbeat_path_report."""

    _fields_ = (
        ("time", c_uint64),
        ("loss_time", c_uint64),
        ("smoothed_rtt", c_uint64),
        ("smallest_rtt", c_uint64),
        ("rtt_variation", c_uint64),
        ("average_window", c_uint64),
        ("acked", c_uint64),
        ("acks", c_uint64),
        ("flow", c_uint32),
        ("generation", c_uint32),
        ("cwnd", c_uint32),
        ("ssthresh", c_uint32),
        ("loss_window", c_uint32),
        ("segment_size", c_uint16),
        ("phase", c_uint8),
        ("losses", c_uint8),
        ("restarts", c_uint8),
        ("retreats", c_uint8),
        ("loss_in_avoidance", c_uint8),
        ("closed", c_uint8),
        ("growth", c_uint8),
    )


class Event(Structure):
    """One event of the flow engine and what it did. In C: struct downbeat_event."""

    _fields_ = EVENT_FIELDS
