/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Types of the estimator (downbeat_estimator.h). Generated from sw/api by `make generate`; do not edit. */
#ifndef DOWNBEAT_ESTIMATOR_TYPES_H
#define DOWNBEAT_ESTIMATOR_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_types.h"

#define DOWNBEAT_ESTIMATOR_ABI 3

/** Bytes of a start's reason, with the NUL. */
#define DOWNBEAT_ESTIMATOR_REASON 160

typedef struct downbeat_estimator downbeat_estimator;

/** An IPv6 address in network order; IPv4 is ::ffff:a.b.c.d (RFC 4291 2.5.5.2). */
typedef struct downbeat_address {
  uint8_t bytes[16];
} downbeat_address;

/** Method of an estimate. */
typedef enum downbeat_method {
  DOWNBEAT_LISS = 0, /* ssthresh is the fair share of the sum of windows (Yu 2009, p. 24) */
  DOWNBEAT_ISS = 1, /* likewise, with the oldest connection's averaged window (p. 26) */
  DOWNBEAT_MISS = 2, /* and an initial window from the time to the next expected drop (p. 26) */
  DOWNBEAT_JS = 3, /* jump start: the initial window is LISS's ssthresh (p. 20) */
  DOWNBEAT_SPAND = 4, /* the best window for the transfer's size (Zhang, Qiu, Keshav 2000) */
  DOWNBEAT_RESUME = 5, /* Careful Resume's saved parameters (RFC 9959) */
} downbeat_method;
#define DOWNBEAT_METHODS 6

/** Why a call changed nothing. Each has a counter; downbeat_estimator_cause_text names it. */
typedef enum downbeat_cause {
  DOWNBEAT_CAUSE_NONE = 0,
  DOWNBEAT_CAUSE_FUTURE = 1, /* the report's time lies after now */
  DOWNBEAT_CAUSE_STALE = 2, /* it lies before the connection's last report, or too far back */
  DOWNBEAT_CAUSE_UNKNOWN = 3, /* no open connection has that name */
  DOWNBEAT_CAUSE_DUPLICATE = 4, /* the name is open already */
  DOWNBEAT_CAUSE_OTHER_PATH = 5, /* the address is not the one of the open */
  DOWNBEAT_CAUSE_ADDRESS = 6, /* unspecified, loopback or multicast */
  DOWNBEAT_CAUSE_SEGMENT = 7, /* segment size outside 64 to 65,535 bytes */
  DOWNBEAT_CAUSE_WINDOW = 8, /* 0, or above the options' maximum_window */
  DOWNBEAT_CAUSE_ROUND_TRIP = 9, /* above 60 s, or the smallest above the smoothed */
  DOWNBEAT_CAUSE_PHASE = 10, /* no downbeat_phase */
  DOWNBEAT_CAUSE_LOSS = 11, /* a loss before the open, after the report, or before the loss reported last */
  DOWNBEAT_CAUSE_COUNTER = 12, /* bytes or ACKs went backwards, or faster than 1 Tb/s */
  DOWNBEAT_CAUSE_FULL = 13, /* no place for the connection or its prefix */
  DOWNBEAT_CAUSE_ARGUMENT = 14, /* no such method, rules after the first open, a table of another version */
} downbeat_cause;
#define DOWNBEAT_CAUSES 15

/** Sizes and rules of an estimator. */
typedef struct downbeat_estimator_options {
  uint32_t prefixes; /* prefixes at most; the one unused longest makes place */
  uint32_t connections; /* open connections at most */
  uint32_t endpoints; /* sets of saved parameters at most (RFC 9959) */
  uint32_t prefix_bits; /* for IPv4 addresses that no rule covers, 1 to 32 */
  uint32_t prefix_bits_v6; /* for IPv6 addresses, 1 to 128 */
  uint32_t initial_window; /* segments; what a start without an estimate has */
  uint32_t maximum_window; /* segments, at most 65,535; no estimate is above it */
  uint32_t cap_to_known; /* 1: MISS gives no window above the sum of the known ones */
  uint32_t miss_weight; /* weight of a new interval between drops, in thirds: 2, or 1 */
  uint32_t spand_reports; /* reports in five minutes that an estimate needs */
  uint32_t spand_shift; /* 1: the window is shifted left as far as no round trip is lost (Eq. 4) */
  uint32_t spand_lower_bound; /* 1: a transfer without loss does not lower the mean */
  uint32_t resume_maximum_jump; /* segments (RFC 9959 2.4) */
  uint32_t reserved;
  uint64_t live; /* ns; a connection counts so long after its last report */
  uint64_t hold; /* ns; a start holds so long at most */
  uint64_t resume_lifetime; /* ns of saved parameters (RFC 9959 2.4) */
  uint64_t secret[2]; /* key of the hash of names and addresses */
} downbeat_estimator_options;

/** A request for an estimate. */
typedef struct downbeat_start_request {
  downbeat_address remote;
  uint64_t connection; /* the open connection of the request, which does not count itself; 0: none */
  uint64_t transfer_bytes; /* 0: not known */
  uint64_t round_trip; /* ns, of the handshake; 0: not known, another connection's stands for it */
  uint32_t method; /* downbeat_method */
  uint16_t segment_size; /* bytes */
  uint16_t reserved;
} downbeat_start_request;

/** Start of a connection by an estimate. Not `known`: standard slow start, only initial_window and reason are set. */
typedef struct downbeat_host_start {
  uint32_t method; /* downbeat_method */
  uint32_t known; /* 1: an estimate exists */
  uint32_t initial_window; /* segments, 16 bits */
  uint32_t pace; /* downbeat_pace */
  uint64_t ssthresh; /* bytes; 0: the core's own */
  uint64_t gap; /* ns between segments of the first flight; 0: not paced, or the core divides its round trip */
  uint64_t until; /* ns; afterwards the start is void */
  uint64_t round_trip; /* ns, of the path, for the first RTO; 0: not known */
  uint64_t miss_next; /* ns; MISS in the core: the next expected drop */
  uint32_t miss_rate; /* MISS in the core: gamma/delta, 8 fraction bits, 24 bits */
  uint32_t miss_cap; /* segments; MISS in the core: highest window that it computes */
  uint64_t saved_window; /* bytes; Careful Resume's saved_cwnd */
  uint64_t saved_rtt; /* ns; its saved_rtt */
  uint64_t jump; /* bytes; its jump_cwnd: at most half of saved_window, and max_jump */
  char reason[DOWNBEAT_ESTIMATOR_REASON];
} downbeat_host_start;

/** State of a prefix. */
typedef struct downbeat_prefix_state {
  downbeat_address address; /* host bits 0 */
  uint32_t bits; /* length in the IPv6 form: an IPv4 /24 has 120 */
  uint32_t open; /* open connections */
  uint32_t steady; /* L: live ones in congestion avoidance */
  uint32_t starting; /* live ones in start-up */
  uint64_t starting_sum; /* S: segments in their windows, 16 fraction bits */
  uint64_t oldest; /* name of the oldest steady connection; 0: none */
  uint64_t oldest_window; /* its window, segments with 16 fraction bits */
  uint64_t oldest_average; /* its averaged window, likewise */
  uint64_t last_drop; /* ns; 0: none */
  uint64_t drop_interval; /* ns; delta_l, 0 before the second drop */
  uint64_t oldest_interval; /* ns; gamma_m, likewise */
  uint64_t drops;
  uint32_t spand_reports; /* reports of the last five minutes */
  uint32_t acks_ratio; /* b: segments acknowledged by an ACK, 8 fraction bits */
  uint64_t spand_window; /* their mean window, segments with 8 fraction bits */
  uint64_t spand_rtt; /* their mean round trip, ns */
} downbeat_prefix_state;

/** Result of a report or a close: a transfer's window (SPAND), or a path's capacity (RFC 9959). */
typedef struct downbeat_learned {
  downbeat_address remote;
  uint64_t window; /* bytes */
  uint64_t round_trip; /* ns */
  uint64_t time; /* ns, of the report or close */
  uint32_t saved; /* 1: RFC 9959's saved parameters; 0: SPAND's report */
  uint32_t reserved;
} downbeat_learned;

#endif
