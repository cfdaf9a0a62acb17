/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** The Verilated core as a device: libdownbeat_sim.so.
 *
 * The caller owns the clock and the wire. A device is single-threaded, lives in virtual time and never blocks: a call
 * that cannot be served yet returns DOWNBEAT_WOULD_BLOCK, and something changes only within downbeat_sim_advance_to.
 * Any number of devices may live in one process. Functions return 0 (or a count) on success and a negative
 * downbeat_error otherwise; downbeat_error_text says what to do about it. docs/reference/c-interface.md walks through a
 * connection.
 */
#ifndef DOWNBEAT_SIM_CORE_H
#define DOWNBEAT_SIM_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_event.h"
#include "downbeat_sim.h"
#include "downbeat_sim_core_types.h"
#include "downbeat_texts.h"

#ifdef __cplusplus
extern "C" {
#endif

/** NULL and the reason in *error if it cannot be. */
downbeat_device *downbeat_sim_create(const downbeat_sim_options *options, int *error);
void downbeat_sim_destroy(downbeat_device *device);
/** The preset that this library was built from. */
const char *downbeat_sim_preset(void);
/** The tap at which this library meets the core: "frame", its 64-bit frame stream, or "header", parsed headers and
 * lengths: data sent and received is then zeros of the right number. */
const char *downbeat_sim_tap(void);
/** The largest link_rate, b/s. */
uint64_t downbeat_sim_highest_link_rate(void);

/** Holds the core's reset for so many clocks, at least one. Connections end as DOWNBEAT_ABORTED, no port has
 * a listener, and a peer's next segment gets an RST. */
int downbeat_sim_reset(downbeat_device *device, unsigned clocks);

/** Puts any bytes on the wire as one frame, neither padded nor refused for their length; `damaged`: its FCS is wrong.
 */
int downbeat_sim_put_anything(downbeat_device *device, const uint8_t *bytes, size_t length, int damaged,
                              downbeat_time arrival);
/** The next received frame that was not for the core alone (UDP, ARP replies ...); and a frame of another stack to
 * send. */
int64_t downbeat_sim_get_bypass(downbeat_device *device, uint8_t *frame, size_t capacity);
int downbeat_sim_put_bypass(downbeat_device *device, const uint8_t *frame, size_t length);
/** Nonzero stalls the bypass output, zero resumes it: frames wait in the core, which drops them when it has no space.
 */
void downbeat_sim_stall_bypass(downbeat_device *device, int stalled);

/** A static neighbour: ARP never requests it. At most 16. The header tap knows no others: other addresses are
 * DOWNBEAT_UNREACHABLE to downbeat_sim_connect. */
int downbeat_sim_add_neighbour(downbeat_device *device, uint32_t ip, const uint8_t mac[6]);
/** Opens; `local_port` 0 takes an ephemeral one. Established or failed shows in downbeat_sim_connection_info. */
int downbeat_sim_connect(downbeat_device *device, uint32_t remote_ip, uint16_t remote_port, uint16_t local_port,
                         const downbeat_parameters *parameters, downbeat_sim_connection *connection);
/** One listener a port: a second one is ADDRESS_IN_USE, and changes nothing. */
int downbeat_sim_listen(downbeat_device *device, uint16_t port, const downbeat_parameters *parameters);
/** Removes the listener of that port. Connections that wait to be accepted there are aborted, others go on. */
int downbeat_sim_unlisten(downbeat_device *device, uint16_t port);
/** The next established connection to that port. */
int downbeat_sim_accept(downbeat_device *device, uint16_t port, downbeat_sim_connection *connection);

/** Other policies for a connection that lives, or another argument: `startup`, `steady` and their arguments; nothing
   else is read. Their states start again, the windows stay. */
int downbeat_sim_set_policies(downbeat_device *device, downbeat_sim_connection connection,
                              const downbeat_parameters *parameters);
/** The connection restarts: with other policies, ssthresh and what the host knows of its path (`startup`, `steady`,
   their arguments, `ssthresh`, `start`; nothing else is read). Refused, and counted, while anything is in flight. What
   is sent afterwards does not overtake it. NOT_SUPPORTED by a build without hostStart. */
int downbeat_sim_start(downbeat_device *device, downbeat_sim_connection connection,
                       const downbeat_parameters *parameters);
/** In words: what was wrong with the last call that answered DOWNBEAT_POLICY_ARGUMENT. */
const char *downbeat_sim_argument_problem(const downbeat_device *device);

/** Bytes accepted, from 1 to `length`. */
int64_t downbeat_sim_send(downbeat_device *device, downbeat_sim_connection connection, const void *data, size_t length);
/** The same, and the peer hears that the data is urgent up to the last byte that was accepted (RFC 9293 3.8.5). */
int64_t downbeat_sim_send_urgent(downbeat_device *device, downbeat_sim_connection connection, const void *data,
                                 size_t length);
/** Bytes delivered; 0 is the end of the peer's stream. */
int64_t downbeat_sim_receive(downbeat_device *device, downbeat_sim_connection connection, void *data, size_t capacity);
/** Nothing more will be sent: FIN after what was accepted. Receiving goes on. */
int downbeat_sim_shutdown(downbeat_device *device, downbeat_sim_connection connection);
/** Shutdown, and nothing will be read; the name is forgotten at once. */
int downbeat_sim_close(downbeat_device *device, downbeat_sim_connection connection);
/** RST; the name is forgotten at once. */
int downbeat_sim_abort(downbeat_device *device, downbeat_sim_connection connection);
int downbeat_sim_connection_info(const downbeat_device *device, downbeat_sim_connection connection,
                                 downbeat_sim_info *info);

/** Called for each event of the flow engine from within downbeat_sim_advance_to; NULL: none. */
void downbeat_sim_set_event_callback(downbeat_device *device, downbeat_sim_event_callback callback, void *context);
/** Called for each path report that the core gives, in a build with pathReports; NULL: none. */
void downbeat_sim_set_report_callback(downbeat_device *device, downbeat_sim_report_callback callback, void *context);
void downbeat_sim_get_counters(const downbeat_device *device, downbeat_sim_counters *counters);
/** The core's own counter number `index`: what it dropped or cut, by cause. INVALID_ARGUMENT behind the last one. */
int downbeat_sim_core_counter(const downbeat_device *device, unsigned index, const char **name, uint32_t *value);
/** Starts an FST file (NULL: ends it). Only a library built with waves can. */
int downbeat_sim_waves(downbeat_device *device, const char *path);

/** Names of numbers in an event, as the RTL has them. */
const char *downbeat_sim_state_text(int state);
const char *downbeat_sim_event_text(int kind);
const char *downbeat_sim_congestion_text(int kind);
const char *downbeat_sim_startup_text(int policy);
const char *downbeat_sim_steady_text(int policy);

#ifdef __cplusplus
}
#endif
#endif
