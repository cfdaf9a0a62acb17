/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** The ring driver's calls for a program without an operating system: no heap, no threads, no interrupt.
 *
 * One program has the core (DownbeatHost) and its port 0. It calls downbeat_bare_poll() often; all other calls return
 * at once, with a downbeat_error. What the core writes must be seen by the processor without more: the memory is not
 * cached, or coherent.
 */
#ifndef DOWNBEAT_BARE_H
#define DOWNBEAT_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "downbeat_host.h"
#include "downbeat_types.h"

#define DOWNBEAT_BARE_CONNECTIONS 8
#define DOWNBEAT_BARE_LISTENERS 4

/** The core's place and its addresses; an IP address has its first byte in bits 31 to 24. */
typedef struct downbeat_bare_options {
  volatile uint32_t *registers; /* the core's AXI4-Lite port */
  uint8_t *memory;              /* for payload and rings */
  size_t bytes;                 /* its size */
  uint64_t bus_address;         /* `memory` as the core sees it: a multiple of the payload's size and of 4096 */
  uint8_t mac[6];
  uint32_t ip, netmask, gateway;
  uint32_t secret[4]; /* random: keys the core's sequence numbers and cookies */
} downbeat_bare_options;

/** A connection; its fields are for reading. */
typedef struct downbeat_bare_connection {
  bool used, known, established, peer_finished, shut_down, ended, dropped, waits;
  uint8_t state, generation; /* state: downbeat_state */
  uint16_t flow, request, remote_port, local_port;
  uint32_t remote_ip, done; /* done: commandHead when the open is */
  uint32_t written, acknowledged, consumed, received;
  int error; /* why it ended, 0: in order */
} downbeat_bare_connection;

typedef struct downbeat_bare {
  volatile uint32_t *registers;
  uint8_t *memory;
  uint32_t send_bytes, receive_bytes, receive_base;
  uint32_t command_head, command_tail, notification_head, errors; /* errors: values that the core refused */
  uint16_t request;
  downbeat_bare_connection connections[DOWNBEAT_BARE_CONNECTIONS];
  struct {
    uint16_t port, request;
    int state; /* WOULD_BLOCK until the core listens; 0; why it does not */
  } listeners[DOWNBEAT_BARE_LISTENERS];
} downbeat_bare;

/** Bytes of memory that a core of these flows and buffers (registers of that name) needs. */
size_t downbeat_bare_bytes(uint32_t flows, uint32_t send_bytes, uint32_t receive_bytes);
/** Resets the core and starts it and port 0. NO_DEVICE: no Downbeat core; WRONG_VERSION: of another release;
 * INVALID_ARGUMENT: memory too small, or its address; NO_PORT: port 0 does not start. */
int downbeat_bare_begin(downbeat_bare *device, const downbeat_bare_options *options);
/** Takes what the core has reported. DEVICE_GONE: its port has stopped. */
int downbeat_bare_poll(downbeat_bare *device);
/** Opens; local port 0 takes an ephemeral one. Policies by number, 0: standard and reno. OUT_OF_RESOURCES: all
 * connections are used; WOULD_BLOCK: the command ring is full. It is established or ended after some polls. */
int downbeat_bare_connect(downbeat_bare *device, uint32_t ip, uint16_t port, uint16_t local_port, uint8_t startup,
                          uint8_t steady, downbeat_bare_connection **connection);
/** Listens. ADDRESS_IN_USE: it does; OUT_OF_RESOURCES; WOULD_BLOCK. */
int downbeat_bare_listen(downbeat_bare *device, uint16_t port);
/** The next established connection of that listener. WOULD_BLOCK: there is none; NOT_LISTENING; the listener's error.
 */
int downbeat_bare_accept(downbeat_bare *device, uint16_t port, downbeat_bare_connection **connection);
/** Bytes taken, at most `length`. WOULD_BLOCK; SHUT_DOWN; why it ended. */
int32_t downbeat_bare_send(downbeat_bare *device, downbeat_bare_connection *connection, const void *data,
                           size_t length);
/** Bytes given, 0 at the end of the peer's stream. WOULD_BLOCK; why it ended. */
int32_t downbeat_bare_receive(downbeat_bare *device, downbeat_bare_connection *connection, void *data, size_t capacity);
/** No more will be sent: a FIN follows the last byte. WOULD_BLOCK: call again. */
int downbeat_bare_shutdown(downbeat_bare *device, downbeat_bare_connection *connection);
/** Gives the connection back; the core ends it in order. WOULD_BLOCK: call again. */
int downbeat_bare_close(downbeat_bare *device, downbeat_bare_connection *connection);
/** Likewise, with a reset. */
int downbeat_bare_abort(downbeat_bare *device, downbeat_bare_connection *connection);

#endif
