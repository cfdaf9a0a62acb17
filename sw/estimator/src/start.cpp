/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// The host start by each method, with its reason; and what is known of a prefix.
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "equations.h"
#include "estimator.h"

namespace downbeat::estimator {

namespace {

constexpr uint64_t minSsthresh = 2 << 16; // segments, 16 fraction bits (RFC 5681 3.1)
constexpr uint64_t maxRate = (1 << 24) - 1;

[[gnu::format(printf, 2, 3)]] void because(Start &start, const char *format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(start.reason, sizeof start.reason, format, arguments);
  va_end(arguments);
}

double segments(uint64_t fixed) { return static_cast<double>(fixed) / 65536; }
double milliseconds(uint64_t time) { return static_cast<double>(time) / 1e6; }

void pace(Start &start, downbeat_pace kind) {
  start.pace = kind;
  start.gap = start.round_trip / start.initial_window;
}

} // namespace

Cause Estimator::request(uint64_t now, const Request &request, Start &start, bool take) {
  now = at(now);
  table_.expire(now > options_.live ? now - options_.live : 0, UINT32_MAX);
  start = {.method = request.method, .initial_window = options_.initial_window};
  Cause cause = check(request);
  const bool resume = request.method == DOWNBEAT_RESUME;
  if (cause == DOWNBEAT_CAUSE_NONE && take && resume && request.connection == 0) cause = DOWNBEAT_CAUSE_UNKNOWN;
  if (cause != DOWNBEAT_CAUSE_NONE) {
    because(start, "refused: %s", downbeat_estimator_cause_text(cause));
    return refuse(cause);
  }
  start.until = now + options_.hold;
  switch (request.method) {
  case DOWNBEAT_LISS: startLiss(request, now, start, false); break;
  case DOWNBEAT_ISS: startLiss(request, now, start, true); break;
  case DOWNBEAT_MISS: startMiss(request, now, start); break;
  case DOWNBEAT_JS: startJs(request, now, start); break;
  case DOWNBEAT_SPAND: startSpand(request, now, start); break;
  default: startResume(request, now, start, take); break;
  }
  if (!start.known) start.until = 0;
  return DOWNBEAT_CAUSE_NONE;
}

Cause Estimator::check(const Request &request) {
  if (request.method >= DOWNBEAT_METHODS) return DOWNBEAT_CAUSE_ARGUMENT;
  if (!isUnicast(request.remote)) return DOWNBEAT_CAUSE_ADDRESS;
  if (request.segment_size < minSegment) return DOWNBEAT_CAUSE_SEGMENT;
  if (request.round_trip > longestRoundTrip) return DOWNBEAT_CAUSE_ROUND_TRIP;
  if (request.connection == 0) return DOWNBEAT_CAUSE_NONE;
  const Connection *requester = table_.find(request.connection);
  if (!requester) return DOWNBEAT_CAUSE_UNKNOWN;
  return same(requester->remote, request.remote) ? DOWNBEAT_CAUSE_NONE : DOWNBEAT_CAUSE_OTHER_PATH;
}

void Estimator::state(PrefixRecord &record, uint64_t now, uint64_t but, downbeat_prefix_state &state) {
  state = {.address = record.prefix.address,
           .bits = record.prefix.bits,
           .open = record.open,
           .steady = record.steady,
           .starting = record.starting,
           .starting_sum = record.startingSum,
           .last_drop = record.drops.last,
           .drop_interval = record.drops.interval,
           .drops = record.drops.count};
  uint32_t requester = nowhere;
  if (const Connection *own = but ? table_.find(but) : nullptr) { // a connection does not count itself
    requester = table_.place(*own);
    if (own->live && own->steady) --state.steady;
    if (own->live && !own->steady) --state.starting, state.starting_sum -= own->window;
  }
  if (const uint32_t at = table_.oldest(record, requester); at != nowhere) {
    const Connection &oldest = table_.connection(at);
    state.oldest = oldest.name;
    state.oldest_window = oldest.window;
    state.oldest_average = oldest.average;
    state.oldest_interval = oldest.drops.interval;
  }
  const SpandSums sums = record.spand.all(now);
  state.spand_reports = sums.reports;
  state.acks_ratio =
      sums.acks ? static_cast<uint32_t>(std::min<uint64_t>((sums.segments << 8) / sums.acks, 1 << 14)) : 512;
  if (sums.reports) {
    state.spand_window = sums.windows / sums.reports;
    state.spand_rtt = sums.roundTrips / sums.reports;
  }
}

bool Estimator::stateFor(const Request &request, uint64_t now, downbeat_prefix_state &found) {
  PrefixRecord *record = table_.find(rules_.of(request.remote));
  if (record) state(*record, now, request.connection, found);
  return record;
}

/// The handshake's, else the oldest steady connection's, as in the thesis, whose agents have no handshake.
uint64_t Estimator::roundTrip(const Request &request, const downbeat_prefix_state &state) {
  if (request.round_trip) return request.round_trip;
  const Connection *oldest = state.oldest ? table_.find(state.oldest) : nullptr;
  return oldest ? oldest->roundTrip : 0;
}

void Estimator::startLiss(const Request &request, uint64_t now, Start &start, bool averaged) {
  downbeat_prefix_state state;
  if (!stateFor(request, now, state)) return because(start, "nothing known of this prefix");
  if (state.oldest == 0) return because(start, "no steady connection (%u in start-up)", state.starting);
  const uint64_t oldest = averaged ? state.oldest_average : state.oldest_window;
  const uint64_t share = liss(state.starting_sum, state.steady, oldest);
  const uint64_t maxWindow = uint64_t{options_.maximum_window} << 16;
  const uint64_t bounded = std::min(std::max(share, minSsthresh), maxWindow);
  start.known = 1;
  start.round_trip = roundTrip(request, state);
  start.ssthresh = bounded * request.segment_size >> 16;
  because(start, "%u steady connection%s, oldest %s = %.2f; %u in start-up with %.2f: ssthresh %.2f", state.steady,
          state.steady == 1 ? "" : "s", averaged ? "awnd" : "w", segments(oldest), state.starting,
          segments(state.starting_sum), segments(bounded));
}

void Estimator::startMiss(const Request &request, uint64_t now, Start &start) {
  startLiss(request, now, start, false);
  downbeat_prefix_state state;
  if (!start.known || !stateFor(request, now, state)) return;
  const uint64_t gamma = state.oldest_interval, delta = state.drop_interval;
  const uint64_t elapsed = now > state.last_drop ? now - state.last_drop : 0;
  if (gamma == 0 || delta == 0)
    return because(start, "LISS's ssthresh; too few drops for an interval (%llu)",
                   static_cast<unsigned long long>(state.drops));
  if (elapsed >= delta)
    return because(start, "LISS's ssthresh; a drop is overdue: the last %.0f ms ago, every %.0f ms",
                   milliseconds(elapsed), milliseconds(delta));
  const Uint128 known = Uint128{state.steady} * state.oldest_window + state.starting_sum;
  const uint64_t cap = static_cast<uint64_t>(std::min<Uint128>(
      options_.cap_to_known ? std::max<Uint128>(known >> 16, options_.initial_window) : options_.maximum_window,
      options_.maximum_window));
  // The core computes the window when the flight starts: by then the handshake has taken a round trip.
  start.miss_rate = static_cast<uint32_t>(std::min<Uint128>((Uint128{gamma} << 8) / delta, maxRate));
  start.miss_next = state.last_drop + delta;
  start.miss_cap = static_cast<uint32_t>(cap);
  because(start, "a drop every %.0f ms, the oldest's every %.0f ms, the last %.0f ms ago: up to %u segments",
          milliseconds(delta), milliseconds(gamma), milliseconds(elapsed), start.miss_cap);
}

void Estimator::startJs(const Request &request, uint64_t now, Start &start) {
  startLiss(request, now, start, false);
  downbeat_prefix_state state;
  if (!start.known || !stateFor(request, now, state)) return;
  start.initial_window = static_cast<uint32_t>(std::max<uint64_t>(start.ssthresh / request.segment_size, 1));
  pace(start, DOWNBEAT_PACE_EVEN);
}

void Estimator::startSpand(const Request &request, uint64_t now, Start &start) {
  downbeat_prefix_state state;
  if (!stateFor(request, now, state)) return because(start, "nothing known of this prefix");
  if (state.spand_reports < options_.spand_reports)
    return because(start, "%u reports in five minutes, %u are needed", state.spand_reports, options_.spand_reports);
  const uint32_t window =
      static_cast<uint32_t>(std::clamp<uint64_t>(state.spand_window >> 8, 1, options_.maximum_window));
  const uint64_t size = request.segment_size;
  const uint64_t count = request.transfer_bytes / size + (request.transfer_bytes % size ? 1 : 0);
  start.known = 1;
  start.initial_window = spand(count, window, state.acks_ratio, options_.spand_shift);
  start.ssthresh = start.initial_window * size; // congestion avoidance at once
  start.round_trip = request.round_trip ? request.round_trip : state.spand_rtt;
  pace(start, DOWNBEAT_PACE_BUCKET);
  because(start, "%u reports, mean window %u, b = %.2f; %llu segments: window %u", state.spand_reports, window,
          state.acks_ratio / 256.0, static_cast<unsigned long long>(count), start.initial_window);
}

void Estimator::startResume(const Request &request, uint64_t now, Start &start, bool take) {
  Saved *saved = saved_.find(request.remote);
  if (!saved) return because(start, "no saved parameters of this address");
  const uint64_t age = now > saved->time ? now - saved->time : 0;
  if (age > options_.resume_lifetime) {
    saved_.remove(request.remote); // RFC 9959 2.4
    return because(start, "the saved parameters are %.0f s old: their lifetime is over", milliseconds(age) / 1e3);
  }
  if (saved->user && saved->user != request.connection && table_.find(saved->user))
    return because(start, "another connection uses the saved parameters"); // one at a time (RFC 9959 3.2)
  const uint64_t size = request.segment_size;
  // At most half of the saved window (RFC 9959 3.3).
  const uint64_t jump =
      std::min({saved->window / 2, options_.resume_maximum_jump * size, options_.maximum_window * size});
  if (jump <= options_.initial_window * size)
    return because(start, "half of the saved window, %llu bytes, is no more than the initial window",
                   static_cast<unsigned long long>(jump));
  start.known = 1;
  start.until = std::min(start.until, saved->time + options_.resume_lifetime);
  start.saved_window = saved->window;
  start.saved_rtt = start.round_trip = saved->roundTrip;
  start.jump = jump;
  if (take) saved->user = request.connection;
  because(start, "saved %.0f s ago: %llu bytes, round trip %.2f ms; jump to %llu bytes", milliseconds(age) / 1e3,
          static_cast<unsigned long long>(saved->window), milliseconds(saved->roundTrip),
          static_cast<unsigned long long>(jump));
}

bool Estimator::prefix(uint64_t now, const downbeat_address &remote, downbeat_prefix_state &found) {
  now = at(now);
  table_.expire(now > options_.live ? now - options_.live : 0, UINT32_MAX);
  PrefixRecord *record = table_.find(rules_.of(remote));
  if (record) state(*record, now, 0, found);
  return record;
}

bool Estimator::nextPrefix(uint64_t now, size_t &cursor, downbeat_prefix_state &found) {
  now = at(now);
  table_.expire(now > options_.live ? now - options_.live : 0, UINT32_MAX);
  while (cursor < table_.prefixes().size()) {
    PrefixRecord &record = table_.prefixes()[cursor++];
    if (!record.used) continue;
    state(record, now, 0, found);
    return true;
  }
  return false;
}

} // namespace downbeat::estimator
