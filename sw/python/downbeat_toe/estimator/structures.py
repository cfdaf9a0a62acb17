# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat_estimator.h's numbers and structures, for ctypes."""

from __future__ import annotations

from ctypes import Structure, c_char, c_uint8, c_uint16, c_uint32, c_uint64
from enum import IntEnum

REASON = 160


class Method(IntEnum):
    """enum downbeat_method."""

    LISS = 0
    ISS = 1
    MISS = 2
    JS = 3
    SPAND = 4
    RESUME = 5


class Phase(IntEnum):
    """enum downbeat_phase."""

    STARTUP = 0
    AVOIDANCE = 1
    RECOVERY = 2


class Pace(IntEnum):
    """enum downbeat_pace."""

    NONE = 0
    EVEN = 1
    BUCKET = 2


class Cause(IntEnum):
    """enum downbeat_cause: why a call changed nothing."""

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
    _fields_ = (
        *((name, c_uint32) for name in ("prefixes", "connections", "endpoints", "prefix_bits", "prefix_bits_v6")),
        *((name, c_uint32) for name in ("initial_window", "maximum_window", "cap_to_known", "miss_weight")),
        *((name, c_uint32) for name in ("spand_reports", "spand_shift", "spand_lower_bound", "resume_maximum_jump")),
        ("reserved", c_uint32),
        *((name, c_uint64) for name in ("live", "hold", "resume_lifetime")),
        ("secret", c_uint64 * 2),
    )


class CAddress(Structure):
    _fields_ = (("bytes", c_uint8 * 16),)


class CReport(Structure):
    _fields_ = (
        *((name, c_uint64) for name in ("time", "connection")),
        ("remote", CAddress),
        *((name, c_uint64) for name in ("acked_bytes", "acks", "awnd", "loss_time", "smoothed_rtt", "smallest_rtt")),
        *((name, c_uint32) for name in ("cwnd", "ssthresh", "loss_cwnd")),
        ("segment_size", c_uint16),
        *((name, c_uint8) for name in ("phase", "losses", "restarts", "retreats", "loss_in_avoidance", "reserved")),
    )


class CQuestion(Structure):
    _fields_ = (
        ("remote", CAddress),
        *((name, c_uint64) for name in ("connection", "transfer_bytes", "round_trip")),
        ("method", c_uint32),
        *((name, c_uint16) for name in ("segment_size", "reserved")),
    )


class CStart(Structure):
    _fields_ = (
        *((name, c_uint32) for name in ("method", "known", "initial_window", "pace")),
        *((name, c_uint64) for name in ("ssthresh", "gap", "until", "miss_next")),
        *((name, c_uint32) for name in ("miss_rate", "miss_cap")),
        *((name, c_uint64) for name in ("saved_window", "saved_rtt", "jump")),
        ("reason", c_char * REASON),
    )


class CPrefix(Structure):
    _fields_ = (
        ("address", CAddress),
        *((name, c_uint32) for name in ("bits", "open", "steady", "starting")),
        *((name, c_uint64) for name in ("starting_sum", "oldest", "oldest_window", "oldest_average")),
        *((name, c_uint64) for name in ("last_drop", "drop_interval", "oldest_interval", "drops")),
        *((name, c_uint32) for name in ("spand_reports", "acks_ratio")),
        *((name, c_uint64) for name in ("spand_window", "spand_rtt")),
    )
