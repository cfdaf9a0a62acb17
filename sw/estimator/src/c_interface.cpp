/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// downbeat_estimator.h over the class: no exception passes it.
#include <cstring>
#include <new>

#include "equations.h"
#include "estimator.h"

using namespace downbeat::estimator;

struct downbeat_estimator {
  Estimator own;
};

namespace {

constexpr uint64_t second = 1'000'000'000; // ns

constexpr const char *causes[DOWNBEAT_CAUSES] = {
    "none",
    "the report lies in the future",
    "the report is stale",
    "no open connection has that name",
    "the name is open already",
    "the address is not the connection's",
    "not an address that a peer can have",
    "segment size outside 64 to 65,535 bytes",
    "window is 0 or above its cap",
    "round trip above 60 s, or the smallest above the smoothed",
    "no such phase",
    "loss before the open, in the future, or before the last one",
    "counters went backwards, or faster than any line",
    "no place",
    "no such method, rules after the first open, or a bad line",
};

constexpr const char *methods[DOWNBEAT_METHODS] = {"liss", "iss", "miss", "js", "spand", "resume"};

} // namespace

uint32_t downbeat_estimator_abi(void) { return DOWNBEAT_ESTIMATOR_ABI; }

void downbeat_estimator_defaults(downbeat_estimator_options *options) {
  *options = {.prefixes = 25'000,
              .connections = 65'536,
              .endpoints = 65'536,
              .prefix_bits = 24,
              .prefix_bits_v6 = 64,
              .initial_window = 10,
              .maximum_window = 65'535,
              .cap_to_known = 1,
              .miss_weight = 2,
              .spand_reports = 1,
              .spand_shift = 1,
              .spand_lower_bound = 0,
              .resume_maximum_jump = 65'535,
              .reserved = 0,
              .live = 60 * second,
              .hold = second,
              .resume_lifetime = 3600 * second,
              .secret = {0x5bd1e995a17c3f0d, 0x2545f4914f6cdd1d}};
}

void downbeat_estimator_paper_mode(downbeat_estimator_options *options) {
  downbeat_estimator_defaults(options);
  options->initial_window = 1;
  options->cap_to_known = 0;
  options->hold = options->live; // the papers know no limit: longer than any round trip
}

downbeat_estimator *downbeat_estimator_create(const downbeat_estimator_options *options, const char **problem) {
  const char *found = downbeat::estimator::problem(*options);
  downbeat_estimator *made = nullptr;
  try {
    if (!found) made = new downbeat_estimator{Estimator(*options)};
  } catch (const std::bad_alloc &) { found = "no memory for so many prefixes and connections"; }
  if (problem) *problem = found;
  return made;
}

void downbeat_estimator_destroy(downbeat_estimator *estimator) { delete estimator; }

size_t downbeat_estimator_rules(downbeat_estimator *estimator, const char *text, size_t length) {
  return estimator->own.rules({text, length});
}

downbeat_cause downbeat_estimator_open(downbeat_estimator *estimator, uint64_t now, uint64_t connection,
                                       const downbeat_address *remote) {
  return estimator->own.open(now, connection, *remote);
}

downbeat_cause downbeat_estimator_report(downbeat_estimator *estimator, uint64_t now, uint64_t connection,
                                         const downbeat_address *remote, const downbeat_path_report *report) {
  return estimator->own.report(now, {*report, connection, *remote});
}

downbeat_cause downbeat_estimator_close(downbeat_estimator *estimator, uint64_t now, uint64_t connection) {
  return estimator->own.close(now, connection);
}

downbeat_cause downbeat_estimator_transfer(downbeat_estimator *estimator, uint64_t now, const downbeat_address *remote,
                                           uint64_t window, uint64_t roundTrip, uint64_t segments, uint64_t acks,
                                           uint32_t final) {
  return estimator->own.transfer(now, *remote, {0, 1, window, roundTrip, segments, acks}, final != 0);
}

void downbeat_estimator_observe(downbeat_estimator *estimator, void (*callback)(void *, const downbeat_learned *),
                                void *context) {
  estimator->own.observe(callback, context);
}

downbeat_cause downbeat_estimator_request(downbeat_estimator *estimator, uint64_t now,
                                          const downbeat_start_request *request, downbeat_host_start *start) {
  return estimator->own.request(now, *request, *start, false);
}

downbeat_cause downbeat_estimator_take(downbeat_estimator *estimator, uint64_t now,
                                       const downbeat_start_request *request, downbeat_host_start *start) {
  return estimator->own.request(now, *request, *start, true);
}

int downbeat_estimator_prefix(downbeat_estimator *estimator, uint64_t now, const downbeat_address *remote,
                              downbeat_prefix_state *state) {
  return estimator->own.prefix(now, *remote, *state);
}

int downbeat_estimator_next_prefix(downbeat_estimator *estimator, uint64_t now, size_t *cursor,
                                   downbeat_prefix_state *state) {
  return estimator->own.nextPrefix(now, *cursor, *state);
}

size_t downbeat_estimator_save(downbeat_estimator *estimator, uint64_t now, char *text, size_t capacity) {
  const std::string saved = estimator->own.save(now);
  if (saved.size() <= capacity) std::memcpy(text, saved.data(), saved.size());
  return saved.size();
}

downbeat_cause downbeat_estimator_load(downbeat_estimator *estimator, uint64_t now, uint64_t elapsed, const char *text,
                                       size_t length) {
  return estimator->own.load(now, elapsed, {text, length});
}

uint64_t downbeat_estimator_refused(const downbeat_estimator *estimator, downbeat_cause cause) {
  return static_cast<uint32_t>(cause) < DOWNBEAT_CAUSES ? estimator->own.refused(cause) : 0;
}

size_t downbeat_estimator_memory(const downbeat_estimator *estimator) { return estimator->own.bytes(); }

const char *downbeat_estimator_cause_text(downbeat_cause cause) {
  return static_cast<uint32_t>(cause) < DOWNBEAT_CAUSES ? causes[cause] : "unknown cause";
}

const char *downbeat_estimator_method_text(downbeat_method method) {
  return static_cast<uint32_t>(method) < DOWNBEAT_METHODS ? methods[method] : "unknown method";
}

int downbeat_address_parse(const char *text, downbeat_address *address) { return parse(text, *address) ? 0 : -1; }

void downbeat_address_text(const downbeat_address *address, char *written) {
  const std::string found = text(*address);
  std::memcpy(written, found.c_str(), found.size() + 1);
}

uint64_t downbeat_liss(uint64_t startingSum, uint32_t steady, uint64_t oldestWindow) {
  return liss(startingSum, steady, oldestWindow);
}

uint64_t downbeat_awnd(uint64_t average, uint64_t cwnd) { return awnd(average, cwnd); }

uint64_t downbeat_drop_interval(uint64_t interval, uint64_t intervals, uint64_t sample, uint32_t weight) {
  return dropInterval(interval, intervals, sample, weight < 3 ? weight : 3);
}

uint32_t downbeat_spand(uint64_t segments, uint32_t window, uint32_t acksRatio, int shift) {
  return spand(segments, window, acksRatio, shift != 0);
}
