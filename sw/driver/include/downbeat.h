/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** TCP over a Downbeat core from a host program: libdownbeat.
 *
 * No call blocks. A call that cannot be served yet answers DOWNBEAT_WOULD_BLOCK; downbeat_descriptor becomes readable
 * when there is news, and downbeat_poll tells which connections and listeners have it. Functions return 0 (or a count)
 * on success and a negative downbeat_error otherwise; downbeat_problem says in one line what to do about it.
 *
 * Any thread may call anything; calls for one connection wait for each other. A connection or listener must not be used
 * after the call that ends it. Addresses and ports are numbers in host order: 0x0a000001 is 10.0.0.1.
 */
#ifndef DOWNBEAT_H
#define DOWNBEAT_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_event.h"
#include "downbeat_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Of this interface; a program compares it with downbeat_abi() when it loads the library by hand. */
#define DOWNBEAT_ABI 1

typedef struct downbeat_device downbeat_device;
typedef struct downbeat_connection downbeat_connection;
typedef struct downbeat_listener downbeat_listener;

uint32_t downbeat_abi(void);

/* ---- devices */

/** Opens a device and takes one of its ports. `uri`:
 *
 *   sim:PRESET       a Verilated core in this process; the caller owns time and wire (the last part of this file)
 *   simd:PATH        a `downbeat nic` process, by its Unix socket
 *   uio:/dev/uioN    registers and memory mapped through UIO
 *   vfio:DOMAIN:BUS:DEVICE.FUNCTION   likewise through VFIO
 *   uart:/dev/tty    a board's bridge: registers, counters and the event log; no connections
 *
 * A site's gateway (`make gateway`) tells where connections start, and hears what they see, with
 *
 *   DEVICE,gateway=udp://HOST:PORT,key=FILE[,estimate=METHOD]
 *
 * FILE has the line of `downbeat gateway keys issue`; METHOD is spand, or liss, js, resume. An open never waits for it.
 *
 * A device of another version is refused, and downbeat_problem names both. */
int downbeat_open(const char *uri, downbeat_device **device);
/** Aborts the connections that are left, stops listening, and gives the port back. */
void downbeat_release(downbeat_device *device);
/** What was wrong with this thread's last call that failed, in one line. */
const char *downbeat_problem(void);
const char *downbeat_error_text(int error);
const char *downbeat_state_text(int state);

/** Readable when downbeat_poll has something to do; for poll, select and epoll. -1: the device has no interrupt. */
int downbeat_descriptor(const downbeat_device *device);

enum downbeat_news {
  DOWNBEAT_NEWS_STATE = 1, /* established, the peer's end, an error: ask downbeat_connection_info */
  DOWNBEAT_NEWS_RECEIVED = 2, /* bytes to read, or the end of the peer's stream */
  DOWNBEAT_NEWS_SPACE = 4, /* space in the send ring */
  DOWNBEAT_NEWS_ACCEPT = 8 /* a listener has a connection */
};

typedef struct downbeat_item {
  downbeat_connection *connection; /* or NULL */
  downbeat_listener *listener; /* or NULL */
  void *context; /* the caller's own: downbeat_set_context, downbeat_listen */
  uint32_t news; /* of enum downbeat_news */
} downbeat_item;

/** Takes what the device has told since, and names who has news: each once, with all its news. At most `capacity`; the
 * others follow with the next call. */
int64_t downbeat_poll(downbeat_device *device, downbeat_item *items, size_t capacity);

typedef struct downbeat_device_info {
  char name[64]; /* the URI, shortened */
  uint32_t major, minor, patch; /* version of the core */
  uint32_t build; /* hash of what the build's layout and policies are */
  uint32_t flows, listeners, ports, port; /* of the core; the one that this process has */
  uint32_t send_bytes, receive_bytes; /* a connection's rings */
  uint32_t mtu, mss, clock_hz; /* bytes of a packet, of a full segment; of the core */
  uint32_t ip, netmask, gateway; /* own address */
  uint8_t mac[6];
} downbeat_device_info;

int downbeat_device_info_of(downbeat_device *device, downbeat_device_info *info);
/** Own address; it resets the core, so only before the first connection. Not for simd:, where the NIC process has it.
 */
int downbeat_set_addresses(downbeat_device *device, uint32_t ip, uint32_t netmask, uint32_t gateway,
                           const uint8_t mac[6]);
int downbeat_add_neighbour(downbeat_device *device, uint32_t ip, const uint8_t mac[6]);
/** The core's own counter number `index`: what it dropped or cut, by cause. INVALID_ARGUMENT behind the last one. */
int downbeat_core_counter(downbeat_device *device, unsigned index, const char **name, uint32_t *value);
/** The name of a policy of this build by its number; NULL behind the last one. */
const char *downbeat_startup_name(const downbeat_device *device, unsigned number);
const char *downbeat_steady_name(const downbeat_device *device, unsigned number);
/** Stops the event log (1) or lets it go on (0); a stopped one can be read. */
int downbeat_log_freeze(downbeat_device *device, int frozen);
/** The log's entry `index`, 0 the newest; INVALID_ARGUMENT behind the oldest. */
int downbeat_log_read(downbeat_device *device, unsigned index, downbeat_event *event);

/* ---- connections */

typedef struct downbeat_options {
  downbeat_parameters parameters;
  uint64_t rate; /* most b/s, in place of parameters.spacing; 0: no cap */
  uint64_t transfer_bytes; /* what the connection will send, as far as is known; 0: not known */
} downbeat_options;

/** Opens; `local_port` 0 takes an ephemeral one. Established or failed is news of the connection. OUT_OF_RESOURCES: the
 * core has no free flow. */
int downbeat_connect(downbeat_device *device, uint32_t ip, uint16_t port, uint16_t local_port,
                     const downbeat_options *options, downbeat_connection **connection);
/** `backlog`: connections that wait to be accepted; further ones are reset. */
int downbeat_listen(downbeat_device *device, uint16_t port, unsigned backlog, const downbeat_options *options,
                    void *context, downbeat_listener **listener);
/** 0 when the core listens; WOULD_BLOCK before; an error if it refused. */
int downbeat_listening(downbeat_listener *listener);
int downbeat_accept(downbeat_listener *listener, downbeat_connection **connection);
/** Listens no more. Connections that nobody has accepted are aborted. */
int downbeat_unlisten(downbeat_listener *listener);
void downbeat_set_context(downbeat_connection *connection, void *context);

/** Bytes taken, from 1 to `length`. */
int64_t downbeat_send(downbeat_connection *connection, const void *data, size_t length);
/** Bytes given; 0 is the end of the peer's stream. */
int64_t downbeat_receive(downbeat_connection *connection, void *data, size_t capacity);

typedef struct downbeat_span {
  uint8_t *bytes;
  size_t length;
} downbeat_span;

/** The free part of the send ring: one span, or two where it wraps (spans[1].length 0 otherwise). Returns its bytes.
 * Write from the begin of spans[0] on, then commit. The ring stays mapped until the connection is closed. */
int64_t downbeat_reserve(downbeat_connection *connection, downbeat_span spans[2]);
/** The first `length` bytes of what was reserved are to be sent. */
int downbeat_commit(downbeat_connection *connection, size_t length);
/** What has come and is unread, in place; 0 at the end of the peer's stream. */
int64_t downbeat_peek(downbeat_connection *connection, downbeat_span spans[2]);
/** The first `length` bytes of that are read, and their place is free. */
int downbeat_consume(downbeat_connection *connection, size_t length);

/** Nothing more will be sent: FIN after what was taken. Receiving goes on. */
int downbeat_shutdown(downbeat_connection *connection);
/** Shutdown, and nothing will be read; RST if something is unread (RFC 2525 2.17). Frees the name. */
int downbeat_close(downbeat_connection *connection);
/** RST. Frees the name. */
int downbeat_abort(downbeat_connection *connection);
/** Other policies and arguments: `startup`, `steady` and their arguments; nothing else is read. The windows stay. */
int downbeat_set_policies(downbeat_connection *connection, const downbeat_parameters *parameters);
/** Starts again with policies, their arguments, `ssthresh` and `start`, before anything that is sent later. The answer
 * is policy_error: IN_FLIGHT if something was, and nothing has changed. */
int downbeat_start(downbeat_connection *connection, const downbeat_parameters *parameters);

typedef struct downbeat_connection_info_t {
  int state; /* enum downbeat_state */
  int error; /* why it ended: a downbeat_error, 0 while it lives and after an orderly end */
  int established; /* it has been; the peer may have ended it meanwhile */
  int policy_error; /* of the newest downbeat_set_policies or _start; 0: done, or on its way */
  uint32_t flow, generation; /* the core's name for it */
  uint32_t remote_ip;
  uint16_t remote_port, local_port;
  uint64_t sent, acknowledged; /* bytes taken to send; of them acknowledged by the peer */
  uint64_t received, consumed; /* bytes that came in order; of them read */
  int peer_finished; /* the peer sends no more */
  /* The newest path report; all 0 before the first. */
  uint64_t smoothed_rtt, smallest_rtt; /* ns */
  uint64_t path_acknowledged; /* bytes, at the report */
  uint32_t cwnd, ssthresh; /* bytes */
  uint32_t phase; /* 0 start-up, 1 congestion avoidance, 2 recovery */
  uint32_t losses, restarts; /* events so far */
  char startup[16], steady[16]; /* policies by name */
} downbeat_connection_info_t;

int downbeat_connection_info(downbeat_connection *connection, downbeat_connection_info_t *info);

/** Where a connection of a device with a gateway started from. */
typedef struct downbeat_estimate {
  uint32_t source; /* 0: nothing was known, standard slow start; 1: this program's own table; 2: the gateway */
  uint32_t initial_window; /* segments */
  uint64_t ssthresh; /* bytes; 0: the core's own */
  uint64_t gap; /* ns between the segments of the first flight; 0: not paced */
  uint32_t bucket; /* 1: the first flight leaves by a bucket of four segments */
  uint32_t reserved;
  char reason[160];
} downbeat_estimate;

/** NOT_SUPPORTED: the device has no gateway, or the options name a start-up policy. */
int downbeat_connection_estimate(downbeat_connection *connection, downbeat_estimate *estimate);

typedef struct downbeat_statistics {
  uint64_t opened, accepted, refused, ended; /* connections */
  uint64_t bytes_sent, bytes_received; /* taken to send; read */
  uint64_t doorbells, notifications, interrupts;
  uint64_t errors; /* notifications of refused host values: 0 unless two programs share a port */
} downbeat_statistics;

void downbeat_get_statistics(const downbeat_device *device, downbeat_statistics *statistics);

/* ---- sim: alone: time and wire are the caller's. Other devices answer NOT_SUPPORTED. */

/** Units of 2^-16 ns since the device was made. */
typedef uint64_t downbeat_time;
#define DOWNBEAT_NEVER UINT64_MAX
#define DOWNBEAT_NANOSECONDS(ns) ((downbeat_time)(ns) << 16)

downbeat_time downbeat_now(const downbeat_device *device);
/** Nothing happens before it unless the device is given something; DOWNBEAT_NEVER: it waits for that. */
downbeat_time downbeat_next_deadline(const downbeat_device *device);
/** Runs the core up to and including `until`. */
int downbeat_advance_to(downbeat_device *device, downbeat_time until);
/** A frame without preamble and FCS arrives, its SFD at `arrival`; in the order of their arrivals. */
int downbeat_put_frame(downbeat_device *device, const uint8_t *frame, size_t length, downbeat_time arrival);
/** The next frame whose SFD has left: its length, at most `capacity` bytes of it in `frame`. */
int64_t downbeat_get_frame(downbeat_device *device, uint8_t *frame, size_t capacity, downbeat_time *departure);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
