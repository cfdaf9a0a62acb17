# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat.h's numbers and structures, for ctypes."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char, c_int, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from enum import IntEnum, IntFlag

from downbeat_toe.library import Event as Event
from downbeat_toe.library import Parameters as Parameters
from downbeat_toe.library import State as State


class Error(IntEnum):
    """enum downbeat_error, as far as the driver has it."""

    OK = 0
    WOULD_BLOCK = -1
    INVALID_ARGUMENT = -2
    UNKNOWN_PRESET = -3
    UNKNOWN_POLICY = -4
    SHUT_DOWN = -7
    REFUSED = -8
    RESET = -9
    TIMED_OUT = -10
    ABORTED = -11
    OUT_OF_RESOURCES = -12
    FRAME_SIZE = -13
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


class News(IntFlag):
    """enum downbeat_news."""

    STATE = 1
    RECEIVED = 2
    SPACE = 4
    ACCEPT = 8


class Options(Structure):
    _fields_ = (("parameters", Parameters), ("rate", c_uint64), ("transfer_bytes", c_uint64))


class CItem(Structure):
    _fields_ = (("connection", c_void_p), ("listener", c_void_p), ("context", c_void_p), ("news", c_uint32))


class Span(Structure):
    _fields_ = (("bytes", POINTER(c_uint8)), ("length", c_size_t))


class DeviceInfo(Structure):
    _fields_ = (
        ("name", c_char * 64),
        *((name, c_uint32) for name in ("major", "minor", "patch", "build", "flows", "listeners", "ports", "port")),
        *((name, c_uint32) for name in ("send_bytes", "receive_bytes", "mtu", "mss", "clock_hz")),
        *((name, c_uint32) for name in ("ip", "netmask", "gateway")),
        ("mac", c_uint8 * 6),
    )


class Source(IntEnum):
    """Where a connection started from."""

    NONE = 0
    OWN = 1
    GATEWAY = 2


class Estimate(Structure):
    _fields_ = (
        *((name, c_uint32) for name in ("source", "initial_window")),
        *((name, c_uint64) for name in ("ssthresh", "gap")),
        *((name, c_uint32) for name in ("bucket", "reserved")),
        ("reason", c_char * 160),
    )


class ConnectionInfo(Structure):
    _fields_ = (
        *((name, c_int) for name in ("state", "error", "established", "policy_error")),
        *((name, c_uint32) for name in ("flow", "generation", "remote_ip")),
        *((name, c_uint16) for name in ("remote_port", "local_port")),
        *((name, c_uint64) for name in ("sent", "acknowledged", "received", "consumed")),
        ("peer_finished", c_int),
        *((name, c_uint64) for name in ("smoothed_rtt", "smallest_rtt", "path_acknowledged")),
        *((name, c_uint32) for name in ("cwnd", "ssthresh", "phase", "losses", "restarts")),
        ("startup", c_char * 16),
        ("steady", c_char * 16),
    )


class Statistics(Structure):
    _fields_ = tuple(
        (name, c_uint64)
        for name in (
            *("opened", "accepted", "refused", "ended", "bytes_sent", "bytes_received"),
            *("doorbells", "notifications", "interrupts", "errors"),
        )
    )
