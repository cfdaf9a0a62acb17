/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Shared path estimates: a start for a new connection, from the path reports of other connections to its prefix.
 *
 * In: opens, path reports and closes of connections. Out: for (address, transfer size, method) the host start, with its
 * reason in words. The driver, the gateway and the ns-3 experiments use this one library.
 *
 * Time is an argument in nanoseconds of the caller's monotonic clock; the library never reads a clock. An estimator is
 * single-threaded. A report takes constant time. Bad input changes nothing and is counted by cause.
 * docs/reference/estimator.md has methods and limits.
 */
#ifndef DOWNBEAT_ESTIMATOR_H
#define DOWNBEAT_ESTIMATOR_H

#include <stddef.h>
#include <stdint.h>

#include "downbeat_estimator_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

uint32_t downbeat_estimator_abi(void);
/** The product's options, or the papers' (initial window 1, MISS not capped, a start holds for a minute). */
void downbeat_estimator_defaults(downbeat_estimator_options *options);
void downbeat_estimator_paper_mode(downbeat_estimator_options *options);
/** NULL when an option is out of its range or there is no memory; *problem then says which (it may be NULL). */
downbeat_estimator *downbeat_estimator_create(const downbeat_estimator_options *options, const char **problem);
void downbeat_estimator_destroy(downbeat_estimator *estimator);

/** Prefixes for the longest match, a line each (`192.0.2.0/23`, `2001:db8::/40`, `# comment`), before the first open.
 * Returns 0, or the number of the first bad line; then no rule of the text holds. */
size_t downbeat_estimator_rules(downbeat_estimator *estimator, const char *text, size_t length);

/** `connection` is any number but 0 that no open connection has. `now` is the instant of establishment. */
downbeat_cause downbeat_estimator_open(downbeat_estimator *estimator, uint64_t now, uint64_t connection,
                                       const downbeat_address *remote);
downbeat_cause downbeat_estimator_report(downbeat_estimator *estimator, uint64_t now, uint64_t connection,
                                         const downbeat_address *remote, const downbeat_path_report *report);
/** The final report goes before it. A transfer without loss gives its window to SPAND here. */
downbeat_cause downbeat_estimator_close(downbeat_estimator *estimator, uint64_t now, uint64_t connection);

/** One report of SPAND from elsewhere (a gateway's host): window in segments with 8 fraction bits, round trip in ns,
 * segments acknowledged and ACKs of the transfer (0, 0: not known). `final` is 1 for a transfer without loss. */
downbeat_cause downbeat_estimator_transfer(downbeat_estimator *estimator, uint64_t now, const downbeat_address *remote,
                                           uint64_t window, uint64_t round_trip, uint64_t segments, uint64_t acks,
                                           uint32_t final);

/** Calls back with each result of a report or a close, from within that call: a host sends these to its gateway. */
void downbeat_estimator_observe(downbeat_estimator *estimator, void (*callback)(void *, const downbeat_learned *),
                                void *context);

/** The start, without taking it: no later request changes by it. */
downbeat_cause downbeat_estimator_request(downbeat_estimator *estimator, uint64_t now,
                                          const downbeat_start_request *request, downbeat_host_start *start);
/** The same for a connection that uses it: saved parameters go to one connection at a time (RFC 9959 3.2), until it
 * closes. `request->connection` must be open where the method is DOWNBEAT_RESUME. */
downbeat_cause downbeat_estimator_take(downbeat_estimator *estimator, uint64_t now,
                                       const downbeat_start_request *request, downbeat_host_start *start);

/** The state of the prefix that the address falls in: 1, or 0 if nothing is known of it. */
int downbeat_estimator_prefix(downbeat_estimator *estimator, uint64_t now, const downbeat_address *remote,
                              downbeat_prefix_state *state);
/** The next prefix in no order: *cursor begins at 0; returns 0 after the last. */
int downbeat_estimator_next_prefix(downbeat_estimator *estimator, uint64_t now, size_t *cursor,
                                   downbeat_prefix_state *state);

/** State that outlives a process (SPAND's reports, saved parameters) as text. Returns its length; writes it if it fits.
 */
size_t downbeat_estimator_save(downbeat_estimator *estimator, uint64_t now, char *text, size_t capacity);
/** Takes a saved text over; `elapsed` ns, the time since it was saved, make its ages higher. Bad lines are counted. */
downbeat_cause downbeat_estimator_load(downbeat_estimator *estimator, uint64_t now, uint64_t elapsed, const char *text,
                                       size_t length);

uint64_t downbeat_estimator_refused(const downbeat_estimator *estimator, downbeat_cause cause);
size_t downbeat_estimator_memory(const downbeat_estimator *estimator); /* bytes */
const char *downbeat_estimator_cause_text(downbeat_cause cause);
const char *downbeat_estimator_method_text(downbeat_method method);

/** `192.0.2.1` or `2001:db8::1`: 0, or -1 if it is no address. Text holds 46 characters. */
int downbeat_address_parse(const char *text, downbeat_address *address);
void downbeat_address_text(const downbeat_address *address, char *text);

/* The equations alone; 0 where they have no result. */

/** LISS: w (S + L w) / (S + (L+1) w); S, w and the result in segments with 16 fraction bits. */
uint64_t downbeat_liss(uint64_t starting_sum, uint32_t steady, uint64_t oldest_window);
/** ISS, one ACK: awnd + 0.002 (cwnd - awnd) as 131/65536, truncated to zero; 16 fraction bits. */
uint64_t downbeat_awnd(uint64_t awnd, uint64_t cwnd);
/** EWMA of the intervals between drops; `intervals` counts those before this one. ns, weight in thirds. */
uint64_t downbeat_drop_interval(uint64_t interval, uint64_t intervals, uint64_t sample, uint32_t weight);
/** SPAND, Eq. 3 and, with shift, Eq. 4: the initial window in segments. 0 segments: size not known. b: 8 fraction bits.
 */
uint32_t downbeat_spand(uint64_t segments, uint32_t window, uint32_t acks_ratio, int shift);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
