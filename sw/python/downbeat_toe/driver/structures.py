# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Types of libdownbeat (downbeat.h). Generated from sw/api by `make generate`; do not edit."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntFlag
from typing import Any

from downbeat_toe.structures import Event, Parameters

ABI = 3


class Ready(IntFlag):
    """A connection's or a listener's readiness. In C: enum downbeat_ready."""

    STATE = 1
    RECEIVED = 2
    SPACE = 4
    ACCEPT = 8


class CItem(Structure):
    """A connection or a listener and its readiness. In C: struct downbeat_item."""

    _fields_ = (
        ("connection", c_void_p),
        ("listener", c_void_p),
        ("context", c_void_p),
        ("ready", c_uint32),
    )


class DeviceInfo(Structure):
    """A device and its sizes. In C: struct downbeat_device_info."""

    _fields_ = (
        ("name", c_char * 64),
        ("major", c_uint32),
        ("minor", c_uint32),
        ("patch", c_uint32),
        ("build", c_uint32),
        ("flows", c_uint32),
        ("listeners", c_uint32),
        ("ports", c_uint32),
        ("port", c_uint32),
        ("send_bytes", c_uint32),
        ("receive_bytes", c_uint32),
        ("mtu", c_uint32),
        ("mss", c_uint32),
        ("clock_hz", c_uint32),
        ("ip", c_uint32),
        ("netmask", c_uint32),
        ("gateway", c_uint32),
        ("mac", c_uint8 * 6),
    )


class Options(Structure):
    """Options of an open. All zero, or NULL in its place, is a good default. In C: struct downbeat_options."""

    _fields_ = (
        ("parameters", Parameters),
        ("rate", c_uint64),
        ("transfer_bytes", c_uint64),
    )


class Span(Structure):
    """Part of a connection's ring. In C: struct downbeat_span."""

    _fields_ = (
        ("bytes", POINTER(c_uint8)),
        ("length", c_size_t),
    )


class ConnectionInfo(Structure):
    """A connection as this program knows it by its last downbeat_poll. In C: struct downbeat_connection_info_t."""

    _fields_ = (
        ("state", c_int),
        ("error", c_int),
        ("established", c_int),
        ("policy_error", c_int),
        ("flow", c_uint32),
        ("generation", c_uint32),
        ("remote_ip", c_uint32),
        ("remote_port", c_uint16),
        ("local_port", c_uint16),
        ("sent", c_uint64),
        ("acknowledged", c_uint64),
        ("received", c_uint64),
        ("consumed", c_uint64),
        ("urgent_left", c_uint64),
        ("peer_finished", c_int),
        ("smoothed_rtt", c_uint64),
        ("smallest_rtt", c_uint64),
        ("rtt_variation", c_uint64),
        ("path_acknowledged", c_uint64),
        ("delivery_rate", c_uint64),
        ("cwnd", c_uint32),
        ("ssthresh", c_uint32),
        ("phase", c_uint32),
        ("losses", c_uint32),
        ("restarts", c_uint32),
        ("startup", c_char * 16),
        ("steady", c_char * 16),
    )


class SegmentStamp(Structure):
    """When a segment of a connection left or came. In C: struct downbeat_stamp."""

    _fields_ = (
        ("time", c_uint64),
        ("bytes", c_uint64),
        ("received", c_uint32),
        ("reserved", c_uint32),
    )


class Estimate(Structure):
    """The estimate that a connection started from, on a device with a performance gateway. In C: struct
    downbeat_estimate."""

    _fields_ = (
        ("source", c_uint32),
        ("initial_window", c_uint32),
        ("ssthresh", c_uint64),
        ("gap", c_uint64),
        ("bucket", c_uint32),
        ("reserved", c_uint32),
        ("reason", c_char * 160),
    )


class Statistics(Structure):
    """Counts since the device was opened, of this program alone. In C: struct downbeat_statistics."""

    _fields_ = (
        ("opened", c_uint64),
        ("accepted", c_uint64),
        ("refused", c_uint64),
        ("ended", c_uint64),
        ("bytes_sent", c_uint64),
        ("bytes_received", c_uint64),
        ("doorbells", c_uint64),
        ("notifications", c_uint64),
        ("interrupts", c_uint64),
        ("errors", c_uint64),
    )


# The result and the parameters of each function.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "downbeat_abi": (c_uint32, []),
    "downbeat_open": (c_int, [c_char_p, POINTER(c_void_p)]),
    "downbeat_release": (None, [c_void_p]),
    "downbeat_problem": (c_char_p, []),
    "downbeat_descriptor": (c_int, [c_void_p]),
    "downbeat_poll": (c_int64, [c_void_p, POINTER(CItem), c_size_t]),
    "downbeat_device_info_of": (c_int, [c_void_p, POINTER(DeviceInfo)]),
    "downbeat_set_addresses": (c_int, [c_void_p, c_uint32, c_uint32, c_uint32, c_char_p]),
    "downbeat_add_neighbour": (c_int, [c_void_p, c_uint32, c_char_p]),
    "downbeat_core_counter": (c_int, [c_void_p, c_uint, POINTER(c_char_p), POINTER(c_uint32)]),
    "downbeat_startup_name": (c_char_p, [c_void_p, c_uint]),
    "downbeat_steady_name": (c_char_p, [c_void_p, c_uint]),
    "downbeat_log_freeze": (c_int, [c_void_p, c_int]),
    "downbeat_log_read": (c_int, [c_void_p, c_uint, POINTER(Event)]),
    "downbeat_connect": (c_int, [c_void_p, c_uint32, c_uint16, c_uint16, POINTER(Options), POINTER(c_void_p)]),
    "downbeat_listen": (c_int, [c_void_p, c_uint16, c_uint, POINTER(Options), c_void_p, POINTER(c_void_p)]),
    "downbeat_listening": (c_int, [c_void_p]),
    "downbeat_accept": (c_int, [c_void_p, POINTER(c_void_p)]),
    "downbeat_unlisten": (c_int, [c_void_p]),
    "downbeat_set_context": (None, [c_void_p, c_void_p]),
    "downbeat_send": (c_int64, [c_void_p, c_void_p, c_size_t]),
    "downbeat_receive": (c_int64, [c_void_p, c_void_p, c_size_t]),
    "downbeat_reserve": (c_int64, [c_void_p, POINTER(Span)]),
    "downbeat_commit": (c_int, [c_void_p, c_size_t]),
    "downbeat_commit_urgent": (c_int, [c_void_p, c_size_t]),
    "downbeat_peek": (c_int64, [c_void_p, POINTER(Span)]),
    "downbeat_consume": (c_int, [c_void_p, c_size_t]),
    "downbeat_shutdown": (c_int, [c_void_p]),
    "downbeat_close": (c_int, [c_void_p]),
    "downbeat_abort": (c_int, [c_void_p]),
    "downbeat_set_policies": (c_int, [c_void_p, POINTER(Parameters)]),
    "downbeat_set_times": (c_int, [c_void_p, c_uint32, c_uint32]),
    "downbeat_start": (c_int, [c_void_p, POINTER(Parameters)]),
    "downbeat_keep_stamps": (c_int, [c_void_p]),
    "downbeat_stamps": (c_int64, [c_void_p, POINTER(SegmentStamp), c_size_t, POINTER(c_uint64)]),
    "downbeat_connection_info": (c_int, [c_void_p, POINTER(ConnectionInfo)]),
    "downbeat_connection_estimate": (c_int, [c_void_p, POINTER(Estimate)]),
    "downbeat_get_statistics": (None, [c_void_p, POINTER(Statistics)]),
    "downbeat_error_text": (c_char_p, [c_int]),
    "downbeat_state_text": (c_char_p, [c_int]),
    "downbeat_sim_now": (c_uint64, [c_void_p]),
    "downbeat_sim_next_deadline": (c_uint64, [c_void_p]),
    "downbeat_sim_advance_to": (c_int, [c_void_p, c_uint64]),
    "downbeat_sim_put_frame": (c_int, [c_void_p, c_char_p, c_size_t, c_uint64]),
    "downbeat_sim_get_frame": (c_int64, [c_void_p, c_char_p, c_size_t, POINTER(c_uint64)]),
}
