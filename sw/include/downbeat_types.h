/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Types and texts of both interfaces: libdownbeat (downbeat.h) and the simulated core (downbeat_sim_core.h). */
#ifndef DOWNBEAT_TYPES_H
#define DOWNBEAT_TYPES_H

#include <stdint.h>

/** What calls answer, and why a connection ended. */
enum downbeat_error {
  DOWNBEAT_OK = 0,
  DOWNBEAT_WOULD_BLOCK = -1,         /* nothing can be done now: wait for news, and call again */
  DOWNBEAT_INVALID_ARGUMENT = -2,    /* an argument is out of its range */
  DOWNBEAT_UNKNOWN_PRESET = -3,      /* there is no simulated device of that preset */
  DOWNBEAT_UNKNOWN_POLICY = -4,      /* the core has no congestion policy of that name */
  DOWNBEAT_UNKNOWN_CONNECTION = -5,  /* simulated device: the name was closed or aborted, or never was */
  DOWNBEAT_NOT_LISTENING = -6,       /* simulated device: nobody listens on that port */
  DOWNBEAT_SHUT_DOWN = -7,           /* nothing more can be sent: shut down, or ended in order */
  DOWNBEAT_REFUSED = -8,             /* the peer answered the SYN with RST */
  DOWNBEAT_RESET = -9,               /* the peer reset the connection */
  DOWNBEAT_TIMED_OUT = -10,          /* the peer has not answered for too long */
  DOWNBEAT_ABORTED = -11,            /* the connection was aborted on this side, or by the core's reset */
  DOWNBEAT_OUT_OF_RESOURCES = -12,   /* no flow, listener, table entry or memory is left */
  DOWNBEAT_FRAME_SIZE = -13,         /* the frame is shorter or longer than the core's frames */
  DOWNBEAT_NO_WAVES = -14,           /* simulated device: built without waves, or the file cannot be written */
  DOWNBEAT_UNREACHABLE = -15,        /* nobody answers by ARP, or no next hop leads to that network */
  DOWNBEAT_POLICY_ARGUMENT = -16,    /* the policy does not take that argument */
  DOWNBEAT_ADDRESS_IN_USE = -17,     /* the port has a listener, or these addresses and ports a connection */
  /* of libdownbeat alone */
  DOWNBEAT_NO_DEVICE = -18,          /* nothing answers there, or it is no Downbeat core */
  DOWNBEAT_WRONG_VERSION = -19,      /* device and library are of different releases */
  DOWNBEAT_NO_PERMISSION = -20,      /* the system does not let this user have the device */
  DOWNBEAT_DEVICE_GONE = -21,        /* the device has gone for good: release it and open it again */
  DOWNBEAT_NO_PORT = -22,            /* other programs have all ports, or the port does not start */
  DOWNBEAT_NOT_SUPPORTED = -23,      /* this kind of device or build cannot do that */
  DOWNBEAT_IN_FLIGHT = -24           /* a start needs an established connection with nothing in flight */
};

/** A connection's state (RFC 9293 3.3.2). */
enum downbeat_state {
  DOWNBEAT_CLOSED,
  DOWNBEAT_SYN_SENT,
  DOWNBEAT_SYN_RECEIVED,
  DOWNBEAT_ESTABLISHED,
  DOWNBEAT_FIN_WAIT_1,
  DOWNBEAT_FIN_WAIT_2,
  DOWNBEAT_CLOSE_WAIT,
  DOWNBEAT_CLOSING,
  DOWNBEAT_LAST_ACK,
  DOWNBEAT_TIME_WAIT
};

/** How the first window of a connection leaves. */
enum downbeat_start_pacing {
  DOWNBEAT_START_UNPACED, /* as the policies say */
  DOWNBEAT_START_EVEN,    /* a segment each gap */
  DOWNBEAT_START_BUCKET   /* a token bucket of four segments, one more each gap */
};

/** What the host knows of the path: the first window of a connection. All zero: nothing. */
typedef struct downbeat_start_values {
  uint32_t window; /* segments, at most 65,535; 0: the connection's initial window, unpaced */
  uint32_t pace;   /* enum downbeat_start_pacing */
  uint64_t gap;    /* ns with 16 fraction bits, below 2^52 */
  uint64_t
      until;  /* ns, the last instant at which it holds, below 2^48; 0: it always does. Later: standard slow start */
} downbeat_start_values;

/** What a connection is opened with. All zero is a good default. */
typedef struct downbeat_parameters {
  const char *startup;      /* policy by name; NULL: the build's first */
  const char *steady;
  uint32_t initial_window;  /* segments, at most 255; 0: 10 (RFC 6928) */
  uint32_t ssthresh;        /* bytes; 0: as high as a window can be */
  uint64_t spacing;         /* ns per byte, 32 fraction bits; 0: not paced */
  uint32_t no_delay;        /* 1: small segments go at once (no Nagle algorithm) */
  uint32_t nssr;            /* 1: cwnd stays after idleness; 0: it restarts at the initial window (RFC 5681 4.1) */
  uint32_t ecn;             /* 1: ECN is asked for, or granted */
  uint32_t reno_recovery;   /* 1: without SACK, fast recovery is Reno's (RFC 5681 3.2); 0: NewReno's (RFC 6582) */
  uint32_t keep_alive;      /* silence after which the peer is asked whether it lives; 0: never */
  uint32_t user_timeout; /* time without progress after which the connection is given up; 0: when the expiries have run
                            out */
  /* both times in units of 2^30 ns (1.07 s), at most 65,535 */
  uint32_t differentiated_services; /* of each packet, 6 bits (RFC 2474) */
  uint32_t time_to_live; /* likewise, at most 255; 0: 64 */
  uint64_t startup_argument[2],
      steady_argument[2]; /* what the policies are told, low word first: docs/reference/congestion.md */
  downbeat_start_values start; /* a listener has none */
} downbeat_parameters;

typedef struct downbeat_device downbeat_device;

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A downbeat_error in words; "unknown error" for any other number. */
const char *downbeat_error_text(int error);
/** A downbeat_state by its name in RFC 9293, as "FIN-WAIT-1"; "unknown" for any other number. */
const char *downbeat_state_text(int state);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
