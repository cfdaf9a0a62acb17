/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** TCP over a Downbeat core from a host program: libdownbeat.
 *
 * No call blocks. A call that cannot be served yet returns DOWNBEAT_WOULD_BLOCK; downbeat_descriptor becomes readable
 * when a connection or a listener is ready, and downbeat_poll names those that are. Functions return 0 (or a count)
 * on success and a negative downbeat_error otherwise; downbeat_problem says in one line what to do about it. A call's
 * description names its errors without DOWNBEAT_. Any call that makes something may return OUT_OF_RESOURCES for want of
 * memory. Calls that need connections return NOT_SUPPORTED on uart:.
 *
 * Any thread may call anything; calls for one connection wait for each other. A connection or listener must not be used
 * after the call that ends it. Addresses and ports are numbers in host order: 0x0a000001 is 10.0.0.1.
 *
 * A forked child does not have its parent's devices: there, calls for them return NOT_SUPPORTED and downbeat_release
 * does nothing. The parent's connections are untouched. The child may open a device of its own.
 */
#ifndef DOWNBEAT_H
#define DOWNBEAT_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_driver_types.h"
#include "downbeat_event.h"
#include "downbeat_texts.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** The library's DOWNBEAT_ABI. */
uint32_t downbeat_abi(void);

/* ---- devices */

/** Opens a device and takes one of its ports. `uri`:
 *
 *   sim:PRESET       a Verilated core in this process; the caller owns time and wire (downbeat_sim.h)
 *   simd:PATH        a `downbeat nic` process, by its Unix socket
 *   uio:/dev/uioN    registers and memory mapped through UIO
 *   vfio:DOMAIN:BUS:DEVICE.FUNCTION   likewise through VFIO
 *   uart:/dev/tty    a board's bridge: registers, counters and the event log; no connections
 *
 * A site's performance gateway (`make gateway`) estimates starts of connections from their path reports, with
 *
 *   DEVICE,gateway=udp://HOST:PORT,key=FILE[,estimate=METHOD][,wait=MS]
 *
 * FILE has the line of `downbeat gateway keys issue`; METHOD is spand, or liss, js, resume. An open does not
 * wait for it, but for its first response about a network, at most MS milliseconds (0). downbeat_release waits 0.2 s at
 * most for a gateway that has yet to take the last reports.
 *
 * NO_DEVICE; NO_PERMISSION; NO_PORT; WRONG_VERSION, and downbeat_problem names both; UNKNOWN_PRESET (sim:);
 * INVALID_ARGUMENT: a wrong option or path; NOT_SUPPORTED: gateway= without libdownbeat_site; OUT_OF_RESOURCES: too
 * little memory that the device can reach. */
int downbeat_open(const char *uri, downbeat_device **device);
/** Aborts the connections that are left, stops listening, and gives the port back. Their names end with it. */
void downbeat_release(downbeat_device *device);
/** The problem of this thread's last call that failed, in one line; WOULD_BLOCK does not count. Valid until the
 * thread's next call that fails. */
const char *downbeat_problem(void);

/** Readable when downbeat_poll has something to do; for poll, select and epoll. -1: the device has no interrupt. */
int downbeat_descriptor(const downbeat_device *device);

/** Takes the device's notifications, and gives connections and listeners that are ready: each once, with all its bits.
 * Returns the number of items, at most `capacity`; the others follow with the next call. DEVICE_GONE: the device has
 * gone, and all connections have been given. */
int64_t downbeat_poll(downbeat_device *device, downbeat_item *items, size_t capacity);

/** The device and its sizes, as they were when it was opened or got its addresses. Always 0. */
int downbeat_device_info_of(downbeat_device *device, downbeat_device_info *info);
/** Own address; it resets the core, so only before the first connection. `gateway`: the next hop to other networks, 0
 * for none. NOT_SUPPORTED: only sim: can; NO_PORT: the core does not start again. */
int downbeat_set_addresses(downbeat_device *device, uint32_t ip, uint32_t netmask, uint32_t gateway,
                           const uint8_t mac[6]);
/** A static neighbour: ARP never requests it. NOT_SUPPORTED: simd:, where the NIC process has the registers;
 * OUT_OF_RESOURCES: the core has enough of them, or does not run; NO_DEVICE: the board does not respond. */
int downbeat_add_neighbour(downbeat_device *device, uint32_t ip, const uint8_t mac[6]);
/** The core's own counter number `index`: what it dropped or cut, by cause. `name` and `value` may be NULL.
 * INVALID_ARGUMENT: behind the last one; NOT_SUPPORTED: simd:; NO_DEVICE: the board does not respond. */
int downbeat_core_counter(downbeat_device *device, unsigned index, const char **name, uint32_t *value);
/** The name of a start-up policy by its number; NULL behind the last one, and if the core's policies are not those of
 * this library. */
const char *downbeat_startup_name(const downbeat_device *device, unsigned number);
/** Likewise of a steady policy. */
const char *downbeat_steady_name(const downbeat_device *device, unsigned number);
/** Stops the event log (1) or lets it go on (0); a stopped one can be read. NOT_SUPPORTED: simd:; NO_DEVICE: the board
 * does not respond. */
int downbeat_log_freeze(downbeat_device *device, int frozen);
/** The log's entry `index`, 0 the newest. INVALID_ARGUMENT: behind the oldest; NOT_SUPPORTED: simd:; NO_DEVICE: the
 * board does not answer. */
int downbeat_log_read(downbeat_device *device, unsigned index, downbeat_event *event);

/* ---- connections */

/** Opens; `local_port` 0 takes an ephemeral one. INVALID_ARGUMENT: port 0, or a parameter out of its range;
 * UNKNOWN_POLICY; OUT_OF_RESOURCES: 65,535 opens have no response yet.
 *
 * Established or failed, the connection is ready (STATE), with the cause in downbeat_connection_info: REFUSED,
 * TIMED_OUT, UNREACHABLE; ADDRESS_IN_USE: `local_port` has such a connection; OUT_OF_RESOURCES: the core has no free
 * flow or port; POLICY_ARGUMENT. */
int downbeat_connect(downbeat_device *device, uint32_t ip, uint16_t port, uint16_t local_port,
                     const downbeat_options *options, downbeat_connection **connection);
/** Listens on a port. `backlog`: connections that wait to be accepted, at least 1; further ones are reset. `options`
 * are those of its connections. INVALID_ARGUMENT: port 0, or a parameter out of its range; UNKNOWN_POLICY;
 * ADDRESS_IN_USE: this program listens there already. The listener is ready when the core listens. */
int downbeat_listen(downbeat_device *device, uint16_t port, unsigned backlog, const downbeat_options *options,
                    void *context, downbeat_listener **listener);
/** 0 when the core listens; WOULD_BLOCK before. ADDRESS_IN_USE: another program listens there; OUT_OF_RESOURCES: the
 * core has no listener left; POLICY_ARGUMENT; DEVICE_GONE. */
int downbeat_listening(downbeat_listener *listener);
/** The connection that has waited longest; it has been established, and downbeat_poll gives its readiness. WOULD_BLOCK:
 * none waits; otherwise the errors of downbeat_listening. */
int downbeat_accept(downbeat_listener *listener, downbeat_connection **connection);
/** Listens no more, and ends the listener's name. Connections that nobody has accepted are aborted, others go on.
 * Always 0. */
int downbeat_unlisten(downbeat_listener *listener);
/** Sets downbeat_item.context of this connection; NULL until it is set. */
void downbeat_set_context(downbeat_connection *connection, void *context);

/** Copies into the send ring. Bytes taken, from 1 to `length`. WOULD_BLOCK: not established, or no space; SHUT_DOWN;
 * INVALID_ARGUMENT: no data; DEVICE_GONE; why the connection ended. */
int64_t downbeat_send(downbeat_connection *connection, const void *data, size_t length);
/** Copies out of the receive ring. Bytes given, at most `capacity`; 0 is the end of the peer's stream. WOULD_BLOCK:
 * nothing is unread; INVALID_ARGUMENT: no space; DEVICE_GONE; and, when all has been read, why the connection ended. */
int64_t downbeat_receive(downbeat_connection *connection, void *data, size_t capacity);

/** The free part of the send ring: one span, or two where it wraps (spans[1].length 0 otherwise). Returns its bytes.
 * Write from the begin of spans[0] on, then commit. The ring stays mapped until the connection is closed. Errors as of
 * downbeat_send; then both spans are empty. */
int64_t downbeat_reserve(downbeat_connection *connection, downbeat_span spans[2]);
/** The first `length` bytes of what was reserved are to be sent. INVALID_ARGUMENT: more than that; SHUT_DOWN; why the
 * connection ended. */
int downbeat_commit(downbeat_connection *connection, size_t length);
/** Likewise, and the last of them is urgent (RFC 6093). The newest urgent byte counts. */
int downbeat_commit_urgent(downbeat_connection *connection, size_t length);
/** Unread bytes, in place: one span or two; returns its bytes, 0 at the end of the peer's stream. Errors
 * as of downbeat_receive. */
int64_t downbeat_peek(downbeat_connection *connection, downbeat_span spans[2]);
/** The first `length` bytes of that are read, and their place is free. INVALID_ARGUMENT: more than have come. */
int downbeat_consume(downbeat_connection *connection, size_t length);

/** Nothing more will be sent: FIN after what was taken. Receiving goes on. WOULD_BLOCK: not established yet. */
int downbeat_shutdown(downbeat_connection *connection);
/** Shutdown, and nothing will be read; RST if something is unread (RFC 2525 2.17). Ends the name. Always 0.
 */
int downbeat_close(downbeat_connection *connection);
/** RST. Ends the name. Always 0. */
int downbeat_abort(downbeat_connection *connection);
/** Other policies and arguments: `startup`, `steady` and their arguments; nothing else is read. The windows stay.
 * WOULD_BLOCK: the core has not named the connection yet; UNKNOWN_POLICY; OUT_OF_RESOURCES; SHUT_DOWN: it has ended in
 * order, otherwise why it ended. The core's response is policy_error; unless it is 0 the connection is ready (STATE).
 */
int downbeat_set_policies(downbeat_connection *connection, const downbeat_parameters *parameters);
/** Another keep-alive interval and user timeout, in units of 2^30 ns; 0: none. INVALID_ARGUMENT: more than 65,535;
 * WOULD_BLOCK: the core has not named the connection yet; SHUT_DOWN: it has ended in order, otherwise why it ended. */
int downbeat_set_times(downbeat_connection *connection, uint32_t keep_alive, uint32_t user_timeout);
/** Starts again with policies, their arguments, `ssthresh` and `start`, before anything that is sent later. The
 * response is policy_error: IN_FLIGHT if something was, and nothing has changed. Errors as of downbeat_set_policies,
 * and INVALID_ARGUMENT: a value of `start` out of its range. */
int downbeat_start(downbeat_connection *connection, const downbeat_parameters *parameters);

/** From now on the SFD stamps of the connection's segments are kept, both ways, until downbeat_stamps takes them,
 * 65,536 at most. Call it before the first byte is sent, also before the connection is established; the handshake has
 * no stamps. Errors: why the connection ended. */
int downbeat_keep_stamps(downbeat_connection *connection);
/** Takes the oldest stamps; returns their number, at most `capacity`. `dropped` (or NULL): stamps of this program that
 * were lost so far, as it read its notifications or this connection's stamps too late. INVALID_ARGUMENT: no stamps. */
int64_t downbeat_stamps(downbeat_connection *connection, downbeat_stamp *stamps, size_t capacity, uint64_t *dropped);

/** Fills `info`. Needs nothing from the device, so it never waits. Always 0. */
int downbeat_connection_info(downbeat_connection *connection, downbeat_connection_info_t *info);

/** The estimate that it started from. NOT_SUPPORTED: the device has no performance gateway, or the options name a
 * start-up policy. */
int downbeat_connection_estimate(downbeat_connection *connection, downbeat_estimate *estimate);

/** Fills `statistics`; all 0 on uart:. */
void downbeat_get_statistics(const downbeat_device *device, downbeat_statistics *statistics);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
