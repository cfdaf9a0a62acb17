# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Types of the simulated core (downbeat_sim_core.h). Generated from sw/api by `make generate`; do not edit."""

from __future__ import annotations

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
from typing import Any

from downbeat_toe.structures import Event, Parameters, PathReport


class Options(Structure):
    """Options of a simulated core. In C: struct downbeat_sim_options."""

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


class Info(Structure):
    """A connection as the simulated core has it. In C: struct downbeat_sim_info."""

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


class Counters(Structure):
    """Counts since the core was made. In C: struct downbeat_sim_counters."""

    _fields_ = (
        ("clocks", c_uint64),
        ("events", c_uint64),
        ("frames_in", c_uint64),
        ("frames_out", c_uint64),
        ("bypass_in", c_uint64),
        ("late_arrivals", c_uint64),
        ("late_departures", c_uint64),
        ("worst_lateness", c_uint64),
        ("frames_refused", c_uint64),
    )


REPORT_CALLBACK = CFUNCTYPE(None, c_void_p, POINTER(PathReport))

EVENT_CALLBACK = CFUNCTYPE(None, c_void_p, POINTER(Event))

# The result and the parameters of each function.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "downbeat_sim_create": (c_void_p, [POINTER(Options), POINTER(c_int)]),
    "downbeat_sim_destroy": (None, [c_void_p]),
    "downbeat_sim_preset": (c_char_p, []),
    "downbeat_sim_tap": (c_char_p, []),
    "downbeat_sim_highest_link_rate": (c_uint64, []),
    "downbeat_sim_reset": (c_int, [c_void_p, c_uint]),
    "downbeat_sim_put_anything": (c_int, [c_void_p, c_char_p, c_size_t, c_int, c_uint64]),
    "downbeat_sim_get_bypass": (c_int64, [c_void_p, c_char_p, c_size_t]),
    "downbeat_sim_put_bypass": (c_int, [c_void_p, c_char_p, c_size_t]),
    "downbeat_sim_stall_bypass": (None, [c_void_p, c_int]),
    "downbeat_sim_add_neighbour": (c_int, [c_void_p, c_uint32, c_char_p]),
    "downbeat_sim_connect": (c_int, [c_void_p, c_uint32, c_uint16, c_uint16, POINTER(Parameters), POINTER(c_int32)]),
    "downbeat_sim_listen": (c_int, [c_void_p, c_uint16, POINTER(Parameters)]),
    "downbeat_sim_unlisten": (c_int, [c_void_p, c_uint16]),
    "downbeat_sim_accept": (c_int, [c_void_p, c_uint16, POINTER(c_int32)]),
    "downbeat_sim_set_policies": (c_int, [c_void_p, c_int32, POINTER(Parameters)]),
    "downbeat_sim_start": (c_int, [c_void_p, c_int32, POINTER(Parameters)]),
    "downbeat_sim_argument_problem": (c_char_p, [c_void_p]),
    "downbeat_sim_send": (c_int64, [c_void_p, c_int32, c_void_p, c_size_t]),
    "downbeat_sim_send_urgent": (c_int64, [c_void_p, c_int32, c_void_p, c_size_t]),
    "downbeat_sim_receive": (c_int64, [c_void_p, c_int32, c_void_p, c_size_t]),
    "downbeat_sim_shutdown": (c_int, [c_void_p, c_int32]),
    "downbeat_sim_close": (c_int, [c_void_p, c_int32]),
    "downbeat_sim_abort": (c_int, [c_void_p, c_int32]),
    "downbeat_sim_connection_info": (c_int, [c_void_p, c_int32, POINTER(Info)]),
    "downbeat_sim_set_event_callback": (None, [c_void_p, EVENT_CALLBACK, c_void_p]),
    "downbeat_sim_set_report_callback": (None, [c_void_p, REPORT_CALLBACK, c_void_p]),
    "downbeat_sim_get_counters": (None, [c_void_p, POINTER(Counters)]),
    "downbeat_sim_core_counter": (c_int, [c_void_p, c_uint, POINTER(c_char_p), POINTER(c_uint32)]),
    "downbeat_sim_waves": (c_int, [c_void_p, c_char_p]),
    "downbeat_sim_state_text": (c_char_p, [c_int]),
    "downbeat_sim_event_text": (c_char_p, [c_int]),
    "downbeat_sim_congestion_text": (c_char_p, [c_int]),
    "downbeat_sim_startup_text": (c_char_p, [c_int]),
    "downbeat_sim_steady_text": (c_char_p, [c_int]),
    "downbeat_error_text": (c_char_p, [c_int]),
    "downbeat_state_text": (c_char_p, [c_int]),
    "downbeat_sim_now": (c_uint64, [c_void_p]),
    "downbeat_sim_next_deadline": (c_uint64, [c_void_p]),
    "downbeat_sim_advance_to": (c_int, [c_void_p, c_uint64]),
    "downbeat_sim_put_frame": (c_int, [c_void_p, c_char_p, c_size_t, c_uint64]),
    "downbeat_sim_get_frame": (c_int64, [c_void_p, c_char_p, c_size_t, POINTER(c_uint64)]),
}
