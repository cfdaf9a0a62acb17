# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Members of the C struct downbeat_event. Generated from the RTL by `make generate`; do not edit."""

from __future__ import annotations

from ctypes import c_uint8, c_uint16, c_uint32, c_uint64

EVENT_FIELDS = (
    ("time", c_uint64),
    ("flow", c_uint32),
    ("generation", c_uint32),
    ("kind", c_uint8),
    ("live", c_uint8),
    ("state", c_uint8),
    ("reason", c_uint8),
    ("congestion_kind", c_uint8),
    ("rtt_valid", c_uint8),
    ("uninflated", c_uint8),
    ("startup", c_uint8),
    ("steady", c_uint8),
    ("sent", c_uint8),
    ("retransmission", c_uint8),
    ("asked", c_uint8),
    ("sent_probe", c_uint8),
    ("sent_ahead", c_uint8),
    ("probe_answered", c_uint8),
    ("probe_begins", c_uint8),
    ("probe_disturbed", c_uint8),
    ("segment_size", c_uint16),
    ("sent_length", c_uint16),
    ("acked", c_uint32),
    ("flight", c_uint32),
    ("initial_window", c_uint32),
    ("initial_ssthresh", c_uint32),
    ("rtt", c_uint64),
    ("departure_gap", c_uint64),
    ("arrival_gap", c_uint64),
    ("probe_round_trip", c_uint64),
    ("cwnd", c_uint64),
    ("ssthresh", c_uint64),
    ("acknowledged", c_uint32),
    ("next_send", c_uint32),
    ("highest_sent", c_uint32),
    ("send_window", c_uint32),
    ("received", c_uint32),
    ("sent_sequence", c_uint32),
)
