# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The simulated core."""

from sw.api.common import COMMON
from sw.api.model import Alias, Callback, Entry, Interface, Member, structure

ENTRIES: tuple[Entry, ...] = (
    Alias("downbeat_sim_connection", "int32_t", "Name of a connection of one device; never used twice."),
    structure(
        "downbeat_sim_options",
        "Options",
        "Options of a simulated core.",
        Member("const char *", "preset", "must be the one that this library was built from; NULL: take whatever it is"),
        Member("uint8_t", "mac[6]", "own address, first byte of the wire first"),
        Member("uint32_t", "ip", "own address, 0x0a000001 for 10.0.0.1"),
        Member("uint64_t", "link_rate", "b/s of the link on which the device sends; 0: 1 Gb/s"),
        Member("uint64_t", "secret", "lower half of the key of all hashes; the other is zero; the seed of a run"),
        Member(
            "uint32_t", "staging_bytes", "accepted for sending, or received and unread, outside the core; 0: 256 KiB"
        ),
        Member("uint32_t", "initial_values", "seed of registers and memories before the reset; 0: zeros"),
        Member("uint32_t", "netmask", "0xffffff00 for a /24; 0: every address is on the device's network"),
        Member("uint32_t", "gateway", "next hop to all other networks; 0: there is none"),
    ),
    structure(
        "downbeat_sim_info",
        "Info",
        "A connection as the simulated core has it.",
        Member("enum downbeat_state", "state"),
        Member("int", "error", "why it ended: a downbeat_error, 0 while it lives and after an orderly end"),
        Member("uint32_t", "flow, generation", "the core's name for it"),
        Member("uint32_t", "remote_ip"),
        Member("uint16_t", "remote_port, local_port"),
        Member("uint64_t", "acknowledged", "bytes sent and acknowledged by the peer"),
        Member("uint64_t", "unacknowledged", "accepted from the application and not yet acknowledged"),
        Member("uint64_t", "received", "bytes received in order, read or not"),
        Member("int", "peer_finished", "the peer sends no more"),
        Member(
            "uint64_t",
            "urgent_left",
            "bytes to the end of the peer's urgent data, received or not, that downbeat_sim_receive has not returned",
        ),
        Member(
            "int",
            "network_error_type, network_error_code",
            "type and code of the last ICMP error: 3, 11 or 12 (RFC 792, RFC 9293 3.9.1.8); 0: none",
        ),
        Member("uint32_t", "network_errors", "ICMP errors, at least"),
        Member("int", "struggling", "1: a segment has been sent again three times and is not acknowledged yet"),
        Member("uint32_t", "starts_refused", "calls of downbeat_sim_start: something was in flight"),
    ),
    structure(
        "downbeat_sim_counters",
        "Counters",
        "Counts since the core was made.",
        Member("uint64_t", "clocks", "simulated; skipped idle time does not count"),
        Member("uint64_t", "events", "events of the flow engine"),
        Member("uint64_t", "frames_in, frames_out, bypass_in"),
        Member("uint64_t", "late_arrivals", "put with an arrival time that the device had passed"),
        Member("uint64_t", "late_departures", "`at` frames that left more than a byte time after their launch"),
        Member("uint64_t", "worst_lateness", "the largest of these delays, 2^-16 ns"),
        Member("uint64_t", "frames_refused", "header tap: damaged frames, and TCP to our address of a wrong form"),
    ),
    Callback(
        "downbeat_sim_report_callback",
        "REPORT_CALLBACK",
        "void *context, const downbeat_path_report *report",
        "Receives a path report within downbeat_sim_advance_to.",
    ),
    Callback(
        "downbeat_sim_event_callback",
        "EVENT_CALLBACK",
        "void *context, const downbeat_event *event",
        "Receives an event of the flow engine within downbeat_sim_advance_to.",
    ),
)

SIMULATION = Interface(
    comment="Types of the simulated core (downbeat_sim_core.h).",
    header="sim/device/downbeat_sim_core_types.h",
    module="sw/python/downbeat_toe/device_structures.py",
    entries=ENTRIES,
    functions=("sim/device/downbeat_sim_core.h", "sw/include/downbeat_texts.h", "sw/include/downbeat_sim.h"),
    above=(COMMON,),
)
