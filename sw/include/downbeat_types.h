/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Types of both interfaces: libdownbeat (downbeat.h) and the simulated core (downbeat_sim_core.h). Generated from
 * sw/api by `make generate`; do not edit. */
#ifndef DOWNBEAT_TYPES_H
#define DOWNBEAT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_event.h"

typedef struct downbeat_device downbeat_device;

/** Units of 2^-16 ns since the device was made, as the core's `now` and stamps have it. */
typedef uint64_t downbeat_time;

/** A downbeat_time that does not come. */
#define DOWNBEAT_NEVER UINT64_C(0xffffffffffffffff)

/** Result of a call, and why a connection ended. */
typedef enum downbeat_error {
  DOWNBEAT_OK = 0,
  DOWNBEAT_WOULD_BLOCK = -1, /* nothing can be done now: wait until it is ready, and call again */
  DOWNBEAT_INVALID_ARGUMENT = -2, /* an argument is out of its range */
  DOWNBEAT_UNKNOWN_PRESET = -3, /* there is no simulated device of that preset */
  DOWNBEAT_UNKNOWN_POLICY = -4, /* the core has no congestion policy of that name */
  DOWNBEAT_UNKNOWN_CONNECTION = -5, /* simulated device: the name was closed or aborted, or never was */
  DOWNBEAT_NOT_LISTENING = -6, /* simulated device: that port has no listener */
  DOWNBEAT_SHUT_DOWN = -7, /* nothing more can be sent: shut down, or ended in order */
  DOWNBEAT_REFUSED = -8, /* the peer sent RST for the SYN */
  DOWNBEAT_RESET = -9, /* the peer reset the connection */
  DOWNBEAT_TIMED_OUT = -10, /* the peer has sent nothing for too long */
  DOWNBEAT_ABORTED = -11, /* the connection was aborted on this side, or by the core's reset */
  DOWNBEAT_OUT_OF_RESOURCES = -12, /* no flow, listener, table entry or memory is left */
  DOWNBEAT_FRAME_SIZE = -13, /* the frame is shorter or longer than the core's frames */
  DOWNBEAT_NO_WAVES = -14, /* simulated device: built without waves, or the file cannot be written */
  DOWNBEAT_UNREACHABLE = -15, /* no ARP reply, or no next hop leads to that network */
  DOWNBEAT_POLICY_ARGUMENT = -16, /* the policy does not take that argument */
  DOWNBEAT_ADDRESS_IN_USE = -17, /* the port has a listener, or these addresses and ports a connection */
  DOWNBEAT_NO_DEVICE = -18, /* libdownbeat: nothing responds there, or it is no Downbeat core */
  DOWNBEAT_WRONG_VERSION = -19, /* device and library are of different releases */
  DOWNBEAT_NO_PERMISSION = -20, /* the system does not let this user have the device */
  DOWNBEAT_DEVICE_GONE = -21, /* the device has gone for good: release it and open it again */
  DOWNBEAT_NO_PORT = -22, /* other programs have all ports, or the port does not start */
  DOWNBEAT_NOT_SUPPORTED = -23, /* this kind of device or build cannot do that */
  DOWNBEAT_IN_FLIGHT = -24, /* a start needs an established connection with nothing in flight */
  DOWNBEAT_MEMORY_ERROR = -25, /* the device's memory refused an access to the connection's bytes */
} downbeat_error;

/** A connection's state (RFC 9293 3.3.2). */
typedef enum downbeat_state {
  DOWNBEAT_CLOSED = 0,
  DOWNBEAT_SYN_SENT = 1,
  DOWNBEAT_SYN_RECEIVED = 2,
  DOWNBEAT_ESTABLISHED = 3,
  DOWNBEAT_FIN_WAIT_1 = 4,
  DOWNBEAT_FIN_WAIT_2 = 5,
  DOWNBEAT_CLOSE_WAIT = 6,
  DOWNBEAT_CLOSING = 7,
  DOWNBEAT_LAST_ACK = 8,
  DOWNBEAT_TIME_WAIT = 9,
} downbeat_state;

/** The rule that grows the window, or loss recovery. */
typedef enum downbeat_phase {
  DOWNBEAT_PHASE_STARTUP = 0, /* cwnd < ssthresh */
  DOWNBEAT_PHASE_AVOIDANCE = 1, /* congestion avoidance */
  DOWNBEAT_PHASE_RECOVERY = 2, /* a loss is being repaired */
} downbeat_phase;

/** Pacing of a connection's first window. */
typedef enum downbeat_pace {
  DOWNBEAT_PACE_NONE = 0, /* as the policies have it */
  DOWNBEAT_PACE_EVEN = 1, /* a segment each gap */
  DOWNBEAT_PACE_BUCKET = 2, /* a token bucket of four segments, one more each gap (Zhang, Qiu, Keshav 2000, 4.2) */
} downbeat_pace;

/** Source of a start. */
typedef enum downbeat_source {
  DOWNBEAT_SOURCE_NONE = 0, /* nothing is known: standard slow start */
  DOWNBEAT_SOURCE_OWN = 1, /* the host's own table */
  DOWNBEAT_SOURCE_GATEWAY = 2, /* the site's performance gateway */
} downbeat_source;

/** A start by the host: the first window of a connection. All zero: the host knows nothing of the path. */
typedef struct downbeat_start_values {
  uint32_t window; /* segments, at most 65,535; 0: the connection's initial window, unpaced */
  uint32_t pace; /* enum downbeat_pace */
  uint64_t gap; /* ns with 16 fraction bits, below 2^52 */
  /** ns, the last instant at which it holds, below 2^48; 0: it always does. Later: slow start to ssthresh */
  uint64_t until;
  uint64_t round_trip; /* ns, below 2^36: of the path, for the first RTO; 0: not known */
} downbeat_start_values;

/** Policies and limits of a connection. All zero is a good default. */
typedef struct downbeat_parameters {
  const char *startup; /* policy by name; NULL: the build's first */
  const char *steady;
  uint32_t initial_window; /* segments, at most 255; 0: 10 (RFC 6928) */
  uint32_t ssthresh; /* bytes; 0: as high as a window can be */
  uint64_t spacing; /* ns per byte, 32 fraction bits; 0: not paced */
  uint32_t no_delay; /* 1: small segments go at once (no Nagle algorithm) */
  uint32_t nssr; /* 1: cwnd stays after idleness; 0: it restarts at the initial window (RFC 5681 4.1) */
  uint32_t ecn; /* 1: ECN is requested, or granted */
  uint32_t reno_recovery; /* 1: without SACK, fast recovery is Reno's (RFC 5681 3.2); 0: NewReno's (RFC 6582) */
  uint32_t no_tail_loss_probe; /* 1: a lost tail waits for the timeout; 0: a probe finds it (RFC 8985 7) */
  uint32_t no_rack; /* 1: a number of segments alone makes a loss; 0: time does, too (RFC 8985 6) */
  uint32_t no_undo; /* 1: a reduction for no loss stays; 0: it is taken back (RFC 4015, RFC 3708) */
  uint32_t no_prr; /* 1: in recovery cwnd says what leaves; 0: what is delivered does (RFC 9937) */
  /** 1: cwnd grows although it is not used; 0: it does not (draft-ietf-ccwg-ratelimited-increase) */
  uint32_t no_growth_limit;
  uint32_t keep_alive; /* 2^30 ns (1.07 s), at most 65,535: silence after which the peer is probed; 0: never */
  /** 2^30 ns, at most 65,535: time without progress that ends the connection; 0: the expiries end it */
  uint32_t user_timeout;
  uint32_t differentiated_services; /* 6 bits, in each packet (RFC 2474) */
  uint32_t time_to_live; /* at most 255, in each packet; 0: 64 */
  /** the policies' arguments, low word first: docs/reference/congestion.md */
  uint64_t startup_argument[2], steady_argument[2];
  downbeat_start_values start; /* a listener has none */
} downbeat_parameters;

/** Path of a connection by its newest state: the RTL's record PathReport. Counters run since the establishment. */
typedef struct downbeat_path_report {
  uint64_t time; /* ns, of this state */
  uint64_t loss_time; /* ns, of the last loss event; counts if `losses` has changed */
  uint64_t smoothed_rtt, smallest_rtt; /* ns; 0: no sample yet */
  uint64_t rtt_variation; /* RTTVAR, ns (RFC 6298); of a core at most 2^32 - 1 */
  uint64_t average_window; /* ISS's averaged window, bytes with 16 fraction bits; 0: not averaged */
  uint64_t acked; /* bytes acknowledged; of a core modulo 2^48 */
  uint64_t acks; /* ACKs of new data; of a core modulo 2^24 */
  uint32_t flow, generation; /* the core's name for the connection */
  uint32_t cwnd, ssthresh; /* bytes; of a core in recovery cwnd is ssthresh */
  uint32_t loss_window; /* bytes: cwnd just before the last loss event */
  uint16_t segment_size; /* bytes */
  uint8_t phase; /* enum downbeat_phase */
  uint8_t losses; /* loss events, entries to recovery and first timeouts, modulo 2^8 */
  uint8_t restarts; /* restarts after idleness, modulo 2^8 */
  uint8_t retreats; /* a start-up policy's retreats from an unsafe window, modulo 2^8 */
  uint8_t loss_in_avoidance; /* 1: the last loss event was in congestion avoidance */
  uint8_t closed; /* 1: the last report of the connection */
  uint8_t growth; /* sixteenths of a segment that avoidance has earned beyond cwnd, at most 15 */
} downbeat_path_report;

#endif
