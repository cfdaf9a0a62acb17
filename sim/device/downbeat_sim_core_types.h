/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Types of the simulated core (downbeat_sim_core.h). Generated from sw/api by `make generate`; do not edit. */
#ifndef DOWNBEAT_SIM_CORE_TYPES_H
#define DOWNBEAT_SIM_CORE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_types.h"

/** Name of a connection of one device; never used twice. */
typedef int32_t downbeat_sim_connection;

/** Options of a simulated core. */
typedef struct downbeat_sim_options {
  const char *preset; /* must be the one that this library was built from; NULL: take whatever it is */
  uint8_t mac[6]; /* own address, first byte of the wire first */
  uint32_t ip; /* own address, 0x0a000001 for 10.0.0.1 */
  uint64_t link_rate; /* b/s of the link on which the device sends; 0: 1 Gb/s */
  uint64_t secret; /* lower half of the key of all hashes; the other is zero; the seed of a run */
  uint32_t staging_bytes; /* accepted for sending, or received and unread, outside the core; 0: 256 KiB */
  uint32_t initial_values; /* seed of registers and memories before the reset; 0: zeros */
  uint32_t netmask; /* 0xffffff00 for a /24; 0: every address is on the device's network */
  uint32_t gateway; /* next hop to all other networks; 0: there is none */
} downbeat_sim_options;

/** A connection as the simulated core has it. */
typedef struct downbeat_sim_info {
  enum downbeat_state state;
  int error; /* why it ended: a downbeat_error, 0 while it lives and after an orderly end */
  uint32_t flow, generation; /* the core's name for it */
  uint32_t remote_ip;
  uint16_t remote_port, local_port;
  uint64_t acknowledged; /* bytes sent and acknowledged by the peer */
  uint64_t unacknowledged; /* accepted from the application and not yet acknowledged */
  uint64_t received; /* bytes received in order, read or not */
  int peer_finished; /* the peer sends no more */
  /** bytes to the end of the peer's urgent data, received or not, that downbeat_sim_receive has not returned */
  uint64_t urgent_left;
  /** type and code of the last ICMP error: 3, 11 or 12 (RFC 792, RFC 9293 3.9.1.8); 0: none */
  int network_error_type, network_error_code;
  uint32_t network_errors; /* ICMP errors, at least */
  int struggling; /* 1: a segment has been sent again three times and is not acknowledged yet */
  uint32_t starts_refused; /* calls of downbeat_sim_start: something was in flight */
} downbeat_sim_info;

/** Counts since the core was made. */
typedef struct downbeat_sim_counters {
  uint64_t clocks; /* simulated; skipped idle time does not count */
  uint64_t events; /* events of the flow engine */
  uint64_t frames_in, frames_out, bypass_in;
  uint64_t late_arrivals; /* put with an arrival time that the device had passed */
  uint64_t late_departures; /* `at` frames that left more than a byte time after their launch */
  uint64_t worst_lateness; /* the largest of these delays, 2^-16 ns */
  uint64_t frames_refused; /* header tap: damaged frames, and TCP to our address of a wrong form */
} downbeat_sim_counters;

/** Receives a path report within downbeat_sim_advance_to. */
typedef void (*downbeat_sim_report_callback)(void *context, const downbeat_path_report *report);

/** Receives an event of the flow engine within downbeat_sim_advance_to. */
typedef void (*downbeat_sim_event_callback)(void *context, const downbeat_event *event);

#endif
