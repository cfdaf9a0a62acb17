/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Shared path estimates: what a new connection should start with, from what other connections to its prefix have seen.
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

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define DOWNBEAT_ESTIMATOR_ABI 1
#define DOWNBEAT_ESTIMATOR_REASON 160

typedef struct downbeat_estimator downbeat_estimator;

/** An IPv6 address in network order; IPv4 is ::ffff:a.b.c.d (RFC 4291 2.5.5.2). */
typedef struct downbeat_address {
  uint8_t bytes[16];
} downbeat_address;

typedef enum downbeat_method {
  DOWNBEAT_LISS, /* ssthresh is the fair share of the sum of windows (Yu 2009, p. 24) */
  DOWNBEAT_ISS, /* likewise, with the oldest connection's averaged window (p. 26) */
  DOWNBEAT_MISS, /* and an initial window from the time to the next expected drop (p. 26) */
  DOWNBEAT_JS, /* jump start: the initial window is LISS's ssthresh (p. 20) */
  DOWNBEAT_SPAND, /* the best window for the transfer's size (Zhang, Qiu, Keshav 2000) */
  DOWNBEAT_RESUME /* Careful Resume's saved parameters (RFC 9959) */
} downbeat_method;
#define DOWNBEAT_METHODS 6

typedef enum downbeat_phase {
  DOWNBEAT_PHASE_STARTUP,
  DOWNBEAT_PHASE_AVOIDANCE,
  DOWNBEAT_PHASE_RECOVERY
} downbeat_phase;

typedef enum downbeat_pace {
  DOWNBEAT_PACE_NONE,
  DOWNBEAT_PACE_EVEN, /* the initial window over one round trip */
  DOWNBEAT_PACE_BUCKET /* token bucket of four segments (Zhang, Qiu, Keshav, 4.2) */
} downbeat_pace;

/** Why a call changed nothing. Each has a counter; downbeat_estimator_cause_text names it. */
typedef enum downbeat_cause {
  DOWNBEAT_CAUSE_NONE,
  DOWNBEAT_CAUSE_FUTURE, /* the report's time lies after now */
  DOWNBEAT_CAUSE_STALE, /* it lies before the connection's last report, or too far back */
  DOWNBEAT_CAUSE_UNKNOWN, /* no open connection has that name */
  DOWNBEAT_CAUSE_DUPLICATE, /* the name is open already */
  DOWNBEAT_CAUSE_OTHER_PATH, /* the address is not the one of the open */
  DOWNBEAT_CAUSE_ADDRESS, /* unspecified, loopback or multicast */
  DOWNBEAT_CAUSE_SEGMENT, /* segment size outside 64 to 65,535 bytes */
  DOWNBEAT_CAUSE_WINDOW, /* 0, or above the options' maximum_window */
  DOWNBEAT_CAUSE_ROUND_TRIP, /* above 60 s, or the smallest above the smoothed */
  DOWNBEAT_CAUSE_PHASE, /* no downbeat_phase */
  DOWNBEAT_CAUSE_LOSS, /* a loss before the open, after the report, or before the loss reported last */
  DOWNBEAT_CAUSE_COUNTER, /* bytes or ACKs went backwards, or faster than 1 Tb/s */
  DOWNBEAT_CAUSE_FULL, /* no place for the connection or its prefix */
  DOWNBEAT_CAUSE_ARGUMENT /* no such method, rules after the first open, a table of another version */
} downbeat_cause;
#define DOWNBEAT_CAUSES 15

typedef struct downbeat_estimator_options {
  uint32_t prefixes; /* most prefixes kept; the one unused longest makes place */
  uint32_t connections; /* most open connections */
  uint32_t endpoints; /* most sets of saved parameters (RFC 9959) */
  uint32_t prefix_bits; /* of IPv4 addresses that no rule covers, 1 to 32 */
  uint32_t prefix_bits_v6; /* of IPv6 addresses, 1 to 128 */
  uint32_t initial_window; /* segments; what a start without an estimate has */
  uint32_t maximum_window; /* segments, at most 65,535; no window told is above it */
  uint32_t cap_to_known; /* 1: MISS tells no window above the sum of the known ones */
  uint32_t miss_weight; /* of a new interval between drops, in thirds: 2, or 1 */
  uint32_t spand_reports; /* fewest reports in five minutes that make an estimate */
  uint32_t spand_shift; /* 1: the window is shifted left as far as no round trip is lost (Eq. 4) */
  uint32_t spand_lower_bound; /* 1: a transfer without loss does not lower the mean */
  uint32_t resume_maximum_jump; /* segments (RFC 9959 2.4) */
  uint32_t reserved;
  uint64_t live; /* ns; a connection counts so long after its last report */
  uint64_t hold; /* ns; a start holds so long at most */
  uint64_t resume_lifetime; /* ns of saved parameters (RFC 9959 2.4) */
  uint64_t secret[2]; /* of the hash of names and addresses */
} downbeat_estimator_options;

/** The newest state of one connection. Counters run from its establishment and wrap at their width. */
typedef struct downbeat_path_report {
  uint64_t time; /* ns, of this state */
  uint64_t connection; /* the name that the caller gave it at its open */
  downbeat_address remote;
  uint64_t acked_bytes; /* acknowledged so far */
  uint64_t acks; /* ACKs of new data so far */
  uint64_t awnd; /* averaged window of ISS, bytes with 16 fraction bits; 0: the library averages */
  uint64_t loss_time; /* ns, of the last loss event; counts if `losses` has changed */
  uint64_t smoothed_rtt; /* ns; 0: not known */
  uint64_t smallest_rtt; /* ns; 0: not known */
  uint32_t cwnd; /* bytes */
  uint32_t ssthresh; /* bytes; stands for cwnd in recovery, where cwnd may be inflated */
  uint32_t loss_cwnd; /* bytes, just before the last loss event */
  uint16_t segment_size; /* bytes */
  uint8_t phase; /* downbeat_phase */
  uint8_t losses; /* loss events so far: entries to recovery and timeouts */
  uint8_t restarts; /* restarts after idle so far */
  uint8_t retreats; /* safe retreats of Careful Resume so far */
  uint8_t loss_in_avoidance; /* 1: the last loss event was in congestion avoidance */
  uint8_t reserved;
} downbeat_path_report;

/** What is asked. */
typedef struct downbeat_question {
  downbeat_address remote;
  uint64_t connection; /* an open connection that asks: it does not count itself; 0: none */
  uint64_t transfer_bytes; /* 0: not known */
  uint64_t round_trip; /* ns, of the handshake; 0: not known, another connection's stands for it */
  uint32_t method; /* downbeat_method */
  uint16_t segment_size; /* bytes */
  uint16_t reserved;
} downbeat_question;

/** What a connection starts with. Not `known`: standard slow start, and all but initial_window and reason is 0. */
typedef struct downbeat_host_start {
  uint32_t method; /* downbeat_method */
  uint32_t known; /* 1: an estimate exists */
  uint32_t initial_window; /* segments, 16 bits */
  uint32_t pace; /* downbeat_pace */
  uint64_t ssthresh; /* bytes; 0: the core's own */
  uint64_t gap; /* ns between segments of the first flight; 0: not paced, or the core divides its round trip */
  uint64_t until; /* ns; afterwards the start is void */
  uint64_t miss_next; /* ns; MISS in the core: the next expected drop */
  uint32_t miss_rate; /* MISS in the core: gamma/delta, 8 fraction bits, 24 bits */
  uint32_t miss_cap; /* segments; MISS in the core: the most that it may compute */
  uint64_t saved_window; /* bytes; Careful Resume's saved_cwnd */
  uint64_t saved_rtt; /* ns; its saved_rtt */
  uint64_t jump; /* bytes; its jump_cwnd: at most half of saved_window, and max_jump */
  char reason[DOWNBEAT_ESTIMATOR_REASON];
} downbeat_host_start;

/** What is known of a prefix. */
typedef struct downbeat_prefix_state {
  downbeat_address address; /* host bits 0 */
  uint32_t bits; /* of the IPv6 form: an IPv4 /24 has 120 */
  uint32_t open; /* open connections */
  uint32_t steady; /* L: live ones in congestion avoidance */
  uint32_t starting; /* live ones in start-up */
  uint64_t starting_sum; /* S: segments in their windows, 16 fraction bits */
  uint64_t oldest; /* name of the oldest steady connection; 0: none */
  uint64_t oldest_window; /* its window, segments with 16 fraction bits */
  uint64_t oldest_average; /* its awnd, likewise */
  uint64_t last_drop; /* ns; 0: none */
  uint64_t drop_interval; /* ns; delta_l, 0 before the second drop */
  uint64_t oldest_interval; /* ns; gamma_m, likewise */
  uint64_t drops;
  uint32_t spand_reports; /* of the last five minutes */
  uint32_t acks_ratio; /* b: segments acknowledged by an ACK, 8 fraction bits */
  uint64_t spand_window; /* their mean window, segments with 8 fraction bits */
  uint64_t spand_rtt; /* their mean round trip, ns */
} downbeat_prefix_state;

/** What a report or a close has taught: a transfer's window (SPAND), or a path's capacity (RFC 9959). */
typedef struct downbeat_learned {
  downbeat_address remote;
  uint64_t window; /* bytes */
  uint64_t round_trip; /* ns */
  uint64_t time; /* ns, of the report or close */
  uint32_t saved; /* 1: RFC 9959's saved parameters; 0: SPAND's report */
  uint32_t reserved;
} downbeat_learned;

uint32_t downbeat_estimator_abi(void);
/** The product's options, or the papers' (initial window 1, MISS not capped). */
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
downbeat_cause downbeat_estimator_report(downbeat_estimator *estimator, uint64_t now,
                                         const downbeat_path_report *report);
/** The final report goes before it. A transfer without loss gives its window to SPAND here. */
downbeat_cause downbeat_estimator_close(downbeat_estimator *estimator, uint64_t now, uint64_t connection);

/** One report of SPAND from elsewhere (a gateway's host): window in segments with 8 fraction bits, round trip in ns,
 * segments acknowledged and ACKs of the transfer (0, 0: not known). `final` is 1 for a transfer without loss. */
downbeat_cause downbeat_estimator_transfer(downbeat_estimator *estimator, uint64_t now, const downbeat_address *remote,
                                           uint64_t window, uint64_t round_trip, uint64_t segments, uint64_t acks,
                                           uint32_t final);

/** Calls back for all that reports and closes teach from now on, from within them: what a host tells its gateway. */
void downbeat_estimator_observe(downbeat_estimator *estimator, void (*callback)(void *, const downbeat_learned *),
                                void *context);

/** The start, without taking it: nothing that is asked later changes by it. */
downbeat_cause downbeat_estimator_ask(downbeat_estimator *estimator, uint64_t now, const downbeat_question *question,
                                      downbeat_host_start *start);
/** The same for a connection that uses it: saved parameters go to one connection at a time (RFC 9959 3.2), until it
 * closes. `question->connection` must be open where the method is DOWNBEAT_RESUME. */
downbeat_cause downbeat_estimator_take(downbeat_estimator *estimator, uint64_t now, const downbeat_question *question,
                                       downbeat_host_start *start);

/** The state of the prefix that the address falls in: 1, or 0 if nothing is known of it. */
int downbeat_estimator_prefix(downbeat_estimator *estimator, uint64_t now, const downbeat_address *remote,
                              downbeat_prefix_state *state);
/** The next prefix in no order: *cursor begins at 0; returns 0 after the last. */
int downbeat_estimator_next_prefix(downbeat_estimator *estimator, uint64_t now, size_t *cursor,
                                   downbeat_prefix_state *state);

/** What outlives a process (SPAND's reports, saved parameters) as text. Returns its length; writes it if it fits. */
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

/* The equations alone; 0 where they have no answer. */

/** LISS: w (S + L w) / (S + (L+1) w); S, w and the result in segments with 16 fraction bits. */
uint64_t downbeat_liss(uint64_t starting_sum, uint32_t steady, uint64_t oldest_window);
/** ISS, one ACK: awnd + 0.002 (cwnd - awnd) as 131/65536, truncated to zero; 16 fraction bits. */
uint64_t downbeat_awnd(uint64_t awnd, uint64_t cwnd);
/** EWMA of the intervals between drops; `intervals` counts those before this one. ns, weight in thirds. */
uint64_t downbeat_drop_interval(uint64_t interval, uint64_t intervals, uint64_t sample, uint32_t weight);
/** MISS: floor(gamma (delta - elapsed) / delta / round trip), segments; times in ns. */
uint64_t downbeat_miss(uint64_t gamma, uint64_t delta, uint64_t elapsed, uint64_t round_trip);
/** SPAND, Eq. 3 and, with shift, Eq. 4: the initial window in segments. 0 segments: size not known. b: 8 fraction bits.
 */
uint32_t downbeat_spand(uint64_t segments, uint32_t window, uint32_t acks_ratio, int shift);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
