# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Types of the estimator (downbeat_estimator.h). Generated from sw/api by `make generate`; do not edit."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from typing import Any

from downbeat_toe.structures import PathReport

ABI = 3

REASON = 160


class CAddress(Structure):
    """An IPv6 address in network order; IPv4 is ::ffff:a.b.c.d (RFC 4291 2.5.5.2). In C: struct downbeat_address."""

    _fields_ = (("bytes", c_uint8 * 16),)


class Method(IntEnum):
    """Method of an estimate. In C: enum downbeat_method."""

    LISS = 0
    ISS = 1
    MISS = 2
    JS = 3
    SPAND = 4
    RESUME = 5


class Cause(IntEnum):
    """Why a call changed nothing. Each has a counter; downbeat_estimator_cause_text names it. In C: enum
    downbeat_cause."""

    NONE = 0
    FUTURE = 1
    STALE = 2
    UNKNOWN = 3
    DUPLICATE = 4
    OTHER_PATH = 5
    ADDRESS = 6
    SEGMENT = 7
    WINDOW = 8
    ROUND_TRIP = 9
    PHASE = 10
    LOSS = 11
    COUNTER = 12
    FULL = 13
    ARGUMENT = 14


class COptions(Structure):
    """Sizes and rules of an estimator. In C: struct downbeat_estimator_options."""

    _fields_ = (
        ("prefixes", c_uint32),
        ("connections", c_uint32),
        ("endpoints", c_uint32),
        ("prefix_bits", c_uint32),
        ("prefix_bits_v6", c_uint32),
        ("initial_window", c_uint32),
        ("maximum_window", c_uint32),
        ("cap_to_known", c_uint32),
        ("miss_weight", c_uint32),
        ("spand_reports", c_uint32),
        ("spand_shift", c_uint32),
        ("spand_lower_bound", c_uint32),
        ("resume_maximum_jump", c_uint32),
        ("reserved", c_uint32),
        ("live", c_uint64),
        ("hold", c_uint64),
        ("resume_lifetime", c_uint64),
        ("secret", c_uint64 * 2),
    )


class CRequest(Structure):
    """A request for an estimate. In C: struct downbeat_start_request."""

    _fields_ = (
        ("remote", CAddress),
        ("connection", c_uint64),
        ("transfer_bytes", c_uint64),
        ("round_trip", c_uint64),
        ("method", c_uint32),
        ("segment_size", c_uint16),
        ("reserved", c_uint16),
    )


class CStart(Structure):
    """Start of a connection by an estimate. Not `known`: standard slow start, only initial_window and reason are
    set. In C: struct downbeat_host_start."""

    _fields_ = (
        ("method", c_uint32),
        ("known", c_uint32),
        ("initial_window", c_uint32),
        ("pace", c_uint32),
        ("ssthresh", c_uint64),
        ("gap", c_uint64),
        ("until", c_uint64),
        ("round_trip", c_uint64),
        ("miss_next", c_uint64),
        ("miss_rate", c_uint32),
        ("miss_cap", c_uint32),
        ("saved_window", c_uint64),
        ("saved_rtt", c_uint64),
        ("jump", c_uint64),
        ("reason", c_char * REASON),
    )


class CPrefix(Structure):
    """State of a prefix. In C: struct downbeat_prefix_state."""

    _fields_ = (
        ("address", CAddress),
        ("bits", c_uint32),
        ("open", c_uint32),
        ("steady", c_uint32),
        ("starting", c_uint32),
        ("starting_sum", c_uint64),
        ("oldest", c_uint64),
        ("oldest_window", c_uint64),
        ("oldest_average", c_uint64),
        ("last_drop", c_uint64),
        ("drop_interval", c_uint64),
        ("oldest_interval", c_uint64),
        ("drops", c_uint64),
        ("spand_reports", c_uint32),
        ("acks_ratio", c_uint32),
        ("spand_window", c_uint64),
        ("spand_rtt", c_uint64),
    )


class CLearned(Structure):
    """Result of a report or a close: a transfer's window (SPAND), or a path's capacity (RFC 9959). In C: struct
    downbeat_learned."""

    _fields_ = (
        ("remote", CAddress),
        ("window", c_uint64),
        ("round_trip", c_uint64),
        ("time", c_uint64),
        ("saved", c_uint32),
        ("reserved", c_uint32),
    )


# The result and the parameters of each function.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "downbeat_estimator_abi": (c_uint32, []),
    "downbeat_estimator_defaults": (None, [POINTER(COptions)]),
    "downbeat_estimator_paper_mode": (None, [POINTER(COptions)]),
    "downbeat_estimator_create": (c_void_p, [POINTER(COptions), POINTER(c_char_p)]),
    "downbeat_estimator_destroy": (None, [c_void_p]),
    "downbeat_estimator_rules": (c_size_t, [c_void_p, c_char_p, c_size_t]),
    "downbeat_estimator_open": (c_int, [c_void_p, c_uint64, c_uint64, POINTER(CAddress)]),
    "downbeat_estimator_report": (c_int, [c_void_p, c_uint64, c_uint64, POINTER(CAddress), POINTER(PathReport)]),
    "downbeat_estimator_close": (c_int, [c_void_p, c_uint64, c_uint64]),
    "downbeat_estimator_transfer": (
        c_int,
        [c_void_p, c_uint64, POINTER(CAddress), c_uint64, c_uint64, c_uint64, c_uint64, c_uint32],
    ),
    "downbeat_estimator_request": (c_int, [c_void_p, c_uint64, POINTER(CRequest), POINTER(CStart)]),
    "downbeat_estimator_take": (c_int, [c_void_p, c_uint64, POINTER(CRequest), POINTER(CStart)]),
    "downbeat_estimator_prefix": (c_int, [c_void_p, c_uint64, POINTER(CAddress), POINTER(CPrefix)]),
    "downbeat_estimator_next_prefix": (c_int, [c_void_p, c_uint64, POINTER(c_size_t), POINTER(CPrefix)]),
    "downbeat_estimator_save": (c_size_t, [c_void_p, c_uint64, c_char_p, c_size_t]),
    "downbeat_estimator_load": (c_int, [c_void_p, c_uint64, c_uint64, c_char_p, c_size_t]),
    "downbeat_estimator_refused": (c_uint64, [c_void_p, c_int]),
    "downbeat_estimator_memory": (c_size_t, [c_void_p]),
    "downbeat_estimator_cause_text": (c_char_p, [c_int]),
    "downbeat_estimator_method_text": (c_char_p, [c_int]),
    "downbeat_address_parse": (c_int, [c_char_p, POINTER(CAddress)]),
    "downbeat_address_text": (None, [POINTER(CAddress), c_char_p]),
    "downbeat_liss": (c_uint64, [c_uint64, c_uint32, c_uint64]),
    "downbeat_awnd": (c_uint64, [c_uint64, c_uint64]),
    "downbeat_drop_interval": (c_uint64, [c_uint64, c_uint64, c_uint64, c_uint32]),
    "downbeat_spand": (c_uint32, [c_uint64, c_uint32, c_uint32, c_int]),
}
