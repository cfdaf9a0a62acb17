/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Generated from the RTL by `make generate`; do not edit. */
#ifndef DOWNBEAT_EVENT_H
#define DOWNBEAT_EVENT_H

#include <stdint.h>

/** One event of the flow engine and what it did: the trace port's record, in the engine's order. */
typedef struct downbeat_event {
  uint64_t time; /* ns */
  uint32_t flow;
  uint32_t generation;
  uint8_t kind; /* downbeat_sim_event_text */
  uint8_t live; /* 0: stale, nothing changed */
  uint8_t state;
  uint8_t reason;
  uint8_t congestion_kind; /* downbeat_sim_congestion_text; the stage's input */
  uint8_t rtt_valid;
  uint8_t uninflated; /* a loss leaves cwnd = ssthresh */
  uint8_t startup; /* downbeat_sim_startup_text */
  uint8_t steady; /* downbeat_sim_steady_text */
  uint8_t sent; /* this event sent a segment */
  uint8_t retransmission; /* it had been sent before */
  uint8_t requested; /* a policy has requested a long calculation */
  uint8_t estimates; /* the rate estimator has taken its ACK */
  uint8_t inline_updated; /* inline measurement has received the event */
  uint8_t inline_opens; /* the event: the connection is new */
  uint8_t inline_forgets; /* the event: its probes are forgotten */
  uint8_t inline_completes; /* the event: a stream has left */
  uint8_t inline_missed; /* probes that have no ACK of their own */
  uint8_t repeated; /* the ACK repeats a number */
  uint8_t sent_probe; /* congestion_kind sent: it was a probe */
  uint8_t sent_ahead; /* congestion_kind sent: first half of an inverted pair */
  uint8_t probe_answered; /* a probe has its ACK */
  uint8_t probe_begins; /* it began its train; otherwise the gaps are given */
  uint8_t probe_disturbed;
  uint16_t segment_size; /* bytes */
  uint16_t sent_length; /* bytes */
  uint32_t acked; /* bytes */
  uint32_t flight; /* bytes */
  uint32_t initial_window; /* segments */
  uint32_t initial_ssthresh; /* bytes */
  uint32_t bwe; /* bytes; BWE over the smallest round trip, 0: none yet */
  uint32_t ere; /* bytes; ERE over the smallest round trip, 0: none yet */
  uint32_t sliding; /* bytes; likewise ERE by the slides' rule */
  uint32_t capacity; /* bytes/s; measured K, 0: not known */
  uint32_t available; /* bytes/s; measured A, 0: not known */
  uint64_t arrival; /* ns; the stamp of an ACK's SFD */
  uint64_t rtt; /* ns */
  uint8_t delivery_valid; /* the ACK has a sample of the delivery rate */
  uint8_t app_limited; /* the sample: limited by the application */
  uint8_t cwnd_limited; /* the sample: limited by cwnd */
  uint8_t selective; /* the peer sends SACK */
  uint32_t delivered; /* bytes in all */
  uint32_t prior_delivered; /* the sample: bytes when its segment left */
  uint32_t lost; /* bytes in all */
  uint32_t prior_lost; /* the sample: bytes when its segment left */
  uint32_t tx_in_flight; /* the sample: bytes when its segment left */
  uint32_t in_flight; /* bytes after the event */
  uint64_t delivery_interval; /* the sample: ns */
  uint64_t departure_gap; /* ns; of a probe and the one before */
  uint64_t arrival_gap; /* ns; of their ACKs */
  uint64_t probe_round_trip; /* ns; from the probe to its ACK */
  uint64_t cwnd; /* after the event; bytes, 16 fraction bits */
  uint64_t ssthresh; /* after the event; bytes, 16 fraction bits */
  uint32_t acknowledged; /* SND.UNA */
  uint32_t next_send; /* SND.NXT */
  uint32_t highest_sent; /* SND.MAX */
  uint16_t host_window; /* segments; a start of the host's sets cwnd, 0: none */
  uint8_t host_expired; /* a start of the host's is too old */
  uint8_t rtt_full; /* the round-trip sample is that of a full segment */
  uint8_t rtt_first; /* it is the first of its round trip */
  uint8_t growth_limited; /* a window that is not used is bounded */
  uint8_t retreats; /* the start-up policy gives up a window that was not safe */
  uint8_t recovering; /* a loss is being repaired */
  uint32_t send_window; /* bytes */
  uint32_t received; /* RCV.NXT */
  uint32_t sent_sequence;
} downbeat_event;

#define DOWNBEAT_EVENT_FIELDS(each) \
  each(time, time_ns) \
  each(flow, reference_flow) \
  each(generation, reference_generation) \
  each(kind, kind) \
  each(live, live) \
  each(state, state) \
  each(reason, reason) \
  each(congestion_kind, congestion_kind) \
  each(rtt_valid, congestion_rttValid) \
  each(uninflated, congestion_uninflated) \
  each(startup, startup) \
  each(steady, steady) \
  each(sent, sent) \
  each(retransmission, retransmission) \
  each(requested, requested) \
  each(estimates, estimates) \
  each(inline_updated, inline_goes) \
  each(inline_opens, inline_opens) \
  each(inline_forgets, inline_forgets) \
  each(inline_completes, inline_completes) \
  each(inline_missed, inline_missed) \
  each(repeated, congestion_repeated) \
  each(sent_probe, congestion_sentProbe) \
  each(sent_ahead, congestion_sentAhead) \
  each(probe_answered, congestion_probe_answered) \
  each(probe_begins, congestion_probe_begins) \
  each(probe_disturbed, congestion_probe_disturbed) \
  each(segment_size, congestion_segmentSize) \
  each(sent_length, sentLength) \
  each(acked, congestion_ackedBytes) \
  each(flight, congestion_flight) \
  each(initial_window, congestion_initialWindow) \
  each(initial_ssthresh, congestion_initialSsthresh) \
  each(bwe, congestion_rates_bwe) \
  each(ere, congestion_rates_ere) \
  each(sliding, congestion_rates_sliding) \
  each(capacity, congestion_inline_capacity) \
  each(available, congestion_inline_available) \
  each(arrival, congestion_arrival) \
  each(rtt, congestion_rtt) \
  each(delivery_valid, delivery_valid) \
  each(app_limited, delivery_appLimited) \
  each(cwnd_limited, delivery_cwndLimited) \
  each(selective, delivery_selective) \
  each(delivered, delivery_delivered) \
  each(prior_delivered, delivery_priorDelivered) \
  each(lost, delivery_lost) \
  each(prior_lost, delivery_priorLost) \
  each(tx_in_flight, delivery_txInFlight) \
  each(in_flight, delivery_inFlight) \
  each(delivery_interval, delivery_interval) \
  each(departure_gap, congestion_probe_departureGap) \
  each(arrival_gap, congestion_probe_arrivalGap) \
  each(probe_round_trip, congestion_probe_roundTrip) \
  each(cwnd, window_cwnd) \
  each(ssthresh, window_ssthresh) \
  each(acknowledged, acknowledged_value) \
  each(next_send, nextSend_value) \
  each(highest_sent, highestSent_value) \
  each(host_window, hostWindow) \
  each(host_expired, hostExpired) \
  each(rtt_full, congestion_rttFull) \
  each(rtt_first, congestion_rttFirst) \
  each(growth_limited, growthLimited) \
  each(retreats, retreats) \
  each(recovering, congestion_recovering) \
  each(send_window, sendWindow) \
  each(received, received_value) \
  each(sent_sequence, sentSequence_value)

#endif
