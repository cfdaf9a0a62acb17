# SPDX-License-Identifier: BSD-2-Clause-Patent
"""libdownbeat_sim.so as sim/device/downbeat_sim_core.h declares it: its numbers, structures and functions, by ctypes."""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from pathlib import Path

from downbeat_toe.event_fields import EVENT_FIELDS

NEVER = (1 << 64) - 1


class Error(IntEnum):
    """enum downbeat_error."""

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
    NOT_SUPPORTED = -23


class State(IntEnum):
    """enum downbeat_state (RFC 9293 3.3.2)."""

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


class Options(Structure):
    _fields_ = (
        ("preset", c_char_p),
        ("mac", c_uint8 * 6),
        ("ip", c_uint32),
        ("link_rate", c_uint64),
        ("secret", c_uint64),
        ("staging_bytes", c_uint32),
        ("initial_values", c_uint32),
        ("netmask", c_uint32),
        ("gateway", c_uint32),
    )


class StartValues(Structure):
    """What the host knows of a path: struct downbeat_start_values."""

    _fields_ = (("window", c_uint32), ("pace", c_uint32), ("gap", c_uint64), ("until", c_uint64))


class Parameters(Structure):
    _fields_ = (
        ("startup", c_char_p),
        ("steady", c_char_p),
        ("initial_window", c_uint32),
        ("ssthresh", c_uint32),
        ("spacing", c_uint64),
        *((name, c_uint32) for name in ("no_delay", "nssr", "ecn", "reno_recovery", "keep_alive", "user_timeout")),
        *((name, c_uint32) for name in ("differentiated_services", "time_to_live")),
        ("startup_argument", c_uint64 * 2),
        ("steady_argument", c_uint64 * 2),
        ("start", StartValues),
    )


class Info(Structure):
    _fields_ = (
        ("state", c_int),
        ("error", c_int),
        ("flow", c_uint32),
        ("generation", c_uint32),
        ("remote_ip", c_uint32),
        ("remote_port", c_uint16),
        ("local_port", c_uint16),
        ("acknowledged", c_uint64),
        ("unacknowledged", c_uint64),
        ("received", c_uint64),
        ("peer_finished", c_int),
        ("urgent_left", c_uint64),
        ("network_error_type", c_int),
        ("network_error_code", c_int),
        ("network_errors", c_uint32),
        ("struggling", c_int),
        ("starts_refused", c_uint32),
    )


class FlowReport(Structure):
    """What a connection has learned of its path: struct downbeat_flow_report."""

    _fields_ = (
        ("time", c_uint64),
        *((name, c_uint32) for name in ("flow", "generation", "phase", "closed", "segment_size", "cwnd", "ssthresh")),
        ("losses", c_uint32),
        ("loss_time", c_uint64),
        *((name, c_uint32) for name in ("loss_window", "loss_in_avoidance", "restarts", "retreats")),
        *((name, c_uint64) for name in ("smoothed_rtt", "smallest_rtt", "average_window", "acked")),
        ("acks", c_uint32),
    )


class Counters(Structure):
    _fields_ = tuple(
        (name, c_uint64)
        for name in (
            "clocks",
            "events",
            "frames_in",
            "frames_out",
            "bypass_in",
            "late_arrivals",
            "late_departures",
            "worst_lateness",
            "frames_refused",
        )
    )


class Event(Structure):
    _fields_ = EVENT_FIELDS


EVENT_CALLBACK = CFUNCTYPE(None, c_void_p, POINTER(Event))
REPORT_CALLBACK = CFUNCTYPE(None, c_void_p, POINTER(FlowReport))


OWN = Path(__file__).parent / "native" / "libdownbeat_sim.so"  # what `make wheel` packs


def load(path: Path = OWN) -> ctypes.CDLL:
    """libdownbeat_sim.so with the types of its functions; of a wheel with the simulated device in it, its own.

    OSError: it is not there, or no library.
    """
    library = ctypes.CDLL(str(path))
    device, connection, time = c_void_p, c_int32, c_uint64
    for name, result, arguments in (
        ("create", c_void_p, [POINTER(Options), POINTER(c_int)]),
        ("destroy", None, [device]),
        ("preset", c_char_p, []),
        ("tap", c_char_p, []),
        ("highest_link_rate", c_uint64, []),
        ("now", time, [device]),
        ("reset", c_int, [device, c_uint]),
        ("advance_to", c_int, [device, time]),
        ("next_deadline", time, [device]),
        ("put_frame", c_int, [device, c_char_p, c_size_t, time]),
        ("get_frame", c_int64, [device, c_char_p, c_size_t, POINTER(time)]),
        ("add_neighbour", c_int, [device, c_uint32, c_char_p]),
        ("connect", c_int, [device, c_uint32, c_uint16, c_uint16, POINTER(Parameters), POINTER(connection)]),
        ("listen", c_int, [device, c_uint16, POINTER(Parameters)]),
        ("unlisten", c_int, [device, c_uint16]),
        ("set_policies", c_int, [device, connection, POINTER(Parameters)]),
        ("start", c_int, [device, connection, POINTER(Parameters)]),
        ("argument_problem", c_char_p, [device]),
        ("accept", c_int, [device, c_uint16, POINTER(connection)]),
        ("send", c_int64, [device, connection, c_char_p, c_size_t]),
        ("send_urgent", c_int64, [device, connection, c_char_p, c_size_t]),
        ("receive", c_int64, [device, connection, c_char_p, c_size_t]),
        ("shutdown", c_int, [device, connection]),
        ("close", c_int, [device, connection]),
        ("abort", c_int, [device, connection]),
        ("connection_info", c_int, [device, connection, POINTER(Info)]),
        ("get_counters", None, [device, POINTER(Counters)]),
        ("waves", c_int, [device, c_char_p]),
        ("set_event_callback", None, [device, EVENT_CALLBACK, c_void_p]),
        ("set_report_callback", None, [device, REPORT_CALLBACK, c_void_p]),
        ("event_text", c_char_p, [c_int]),
        ("congestion_text", c_char_p, [c_int]),
        ("startup_text", c_char_p, [c_int]),
        ("steady_text", c_char_p, [c_int]),
    ):
        function = getattr(library, f"downbeat_sim_{name}")
        function.restype, function.argtypes = result, arguments
    library.downbeat_error_text.restype, library.downbeat_error_text.argtypes = c_char_p, [c_int]
    return library
