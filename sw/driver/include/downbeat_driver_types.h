/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Types of libdownbeat (downbeat.h). Generated from sw/api by `make generate`; do not edit. */
#ifndef DOWNBEAT_DRIVER_TYPES_H
#define DOWNBEAT_DRIVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_types.h"

/** Number of this interface; a program that loads the library by hand compares it with downbeat_abi(). */
#define DOWNBEAT_ABI 3

typedef struct downbeat_connection downbeat_connection;

typedef struct downbeat_listener downbeat_listener;

/** A connection's or a listener's readiness. */
typedef enum downbeat_ready {
  DOWNBEAT_READY_STATE = 1, /* established, the peer's end, an error: downbeat_connection_info has it */
  DOWNBEAT_READY_RECEIVED = 2, /* bytes to read, or the end of the peer's stream */
  DOWNBEAT_READY_SPACE = 4, /* space in the send ring */
  DOWNBEAT_READY_ACCEPT = 8, /* a listener has a connection */
} downbeat_ready;

/** A connection or a listener and its readiness. */
typedef struct downbeat_item {
  downbeat_connection *connection; /* or NULL */
  downbeat_listener *listener; /* or NULL */
  void *context; /* the caller's, by downbeat_set_context or downbeat_listen */
  uint32_t ready; /* bits of enum downbeat_ready */
} downbeat_item;

/** A device and its sizes. */
typedef struct downbeat_device_info {
  char name[64]; /* the URI, shortened */
  uint32_t major, minor, patch; /* version of the core */
  uint32_t build; /* hash of the build's layout and policies */
  uint32_t flows, listeners, ports, port; /* numbers of the core; the port of this process */
  uint32_t send_bytes, receive_bytes; /* bytes of a connection's rings */
  uint32_t mtu, mss, clock_hz; /* bytes of a packet; of a full segment; the core's clock */
  uint32_t ip, netmask, gateway; /* own address */
  uint8_t mac[6];
} downbeat_device_info;

/** Options of an open. All zero, or NULL in its place, is a good default. */
typedef struct downbeat_options {
  downbeat_parameters parameters;
  uint64_t rate; /* b/s at most, in place of parameters.spacing; 0: no limit */
  uint64_t transfer_bytes; /* bytes that the connection will send; 0: not known */
} downbeat_options;

/** Part of a connection's ring. */
typedef struct downbeat_span {
  uint8_t *bytes;
  size_t length; /* bytes */
} downbeat_span;

/** A connection as this program knows it by its last downbeat_poll. */
typedef struct downbeat_connection_info_t {
  int state; /* enum downbeat_state */
  int error; /* why it ended: a downbeat_error, 0 while it lives and after an orderly end */
  int established; /* it has been; the peer may have ended it meanwhile */
  int policy_error; /* result of the newest downbeat_set_policies or _start; 0: done, or on its way */
  uint32_t flow, generation; /* the core's name for it */
  uint32_t remote_ip;
  uint16_t remote_port, local_port;
  uint64_t sent, acknowledged; /* bytes taken to send; of them acknowledged by the peer */
  uint64_t received, consumed; /* bytes that came in order; of them read */
  uint64_t urgent_left; /* bytes not read up to the end of the peer's urgent data; some may not have come */
  int peer_finished; /* the peer sends no more */
  /** ns; this and what follows by the newest path report, 0 before the first */
  uint64_t smoothed_rtt, smallest_rtt, rtt_variation;
  uint64_t path_acknowledged; /* bytes, at the report */
  uint64_t delivery_rate; /* bytes/s acknowledged from the report before to the newest with progress */
  uint32_t cwnd, ssthresh; /* bytes */
  uint32_t phase; /* 0 start-up, 1 congestion avoidance, 2 recovery */
  uint32_t losses, restarts; /* events so far */
  char startup[16], steady[16]; /* policies by name */
} downbeat_connection_info_t;

/** When a segment of a connection left or came. */
typedef struct downbeat_stamp {
  uint64_t time; /* SFD of its frame: ns of the core, 16 fraction bits */
  uint64_t bytes; /* position of the segment's end in the stream; a FIN counts as one byte */
  uint32_t received; /* 1: the peer's segment, 0: ours */
  uint32_t reserved;
} downbeat_stamp;

/** The estimate that a connection started from, on a device with a performance gateway. */
typedef struct downbeat_estimate {
  uint32_t source; /* enum downbeat_source */
  uint32_t initial_window; /* segments */
  uint64_t ssthresh; /* bytes; 0: the core's own */
  uint64_t gap; /* ns between the segments of the first flight; 0: not paced */
  uint32_t bucket; /* 1: the first flight leaves by a bucket of four segments */
  uint32_t reserved;
  char reason[160]; /* in words */
} downbeat_estimate;

/** Counts since the device was opened, of this program alone. */
typedef struct downbeat_statistics {
  uint64_t opened, accepted; /* connections, by downbeat_connect and by downbeat_accept */
  uint64_t refused, ended; /* opens that the core has refused; connections that are closed */
  uint64_t bytes_sent, bytes_received; /* taken to send; read */
  uint64_t doorbells, notifications; /* rung; taken */
  uint64_t interrupts; /* not counted: 0 */
  uint64_t errors; /* notifications of refused host values: 0 unless two programs share a port */
} downbeat_statistics;

#endif
