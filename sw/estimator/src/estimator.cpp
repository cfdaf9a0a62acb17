/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "estimator.h"

#include <algorithm>

namespace downbeat::estimator {

namespace {

bool within(uint64_t value, uint64_t min, uint64_t max) { return value >= min && value <= max; }

} // namespace

const char *problem(const Options &options) {
  if (!within(options.prefixes, 1, 1 << 24)) return "prefixes: 1 to 16,777,216";
  if (!within(options.connections, 1, 1 << 24)) return "connections: 1 to 16,777,216";
  if (!within(options.endpoints, 1, 1 << 24)) return "endpoints: 1 to 16,777,216";
  if (!within(options.prefix_bits, 1, 32)) return "prefix_bits: 1 to 32";
  if (!within(options.prefix_bits_v6, 1, 128)) return "prefix_bits_v6: 1 to 128";
  if (!within(options.maximum_window, 1, 65'535)) return "maximum_window: 1 to 65,535 segments";
  if (!within(options.initial_window, 1, options.maximum_window)) return "initial_window: 1 to maximum_window";
  if (!within(options.miss_weight, 1, 2)) return "miss_weight: 1 or 2 thirds";
  if (!within(options.spand_reports, 1, 1 << 20)) return "spand_reports: 1 to 1,048,576";
  if (!within(options.live, 1, uint64_t{1} << 60)) return "live: 1 ns to 36 years";
  if (!within(options.hold, 1, uint64_t{1} << 60)) return "hold: 1 ns to 36 years";
  if (!within(options.resume_lifetime, 1, uint64_t{1} << 60)) return "resume_lifetime: 1 ns to 36 years";
  return nullptr;
}

Estimator::Estimator(const Options &options)
    : options_(options),
      rules_(options.prefix_bits, options.prefix_bits_v6),
      table_(options.prefixes, options.connections, options.secret),
      saved_(options.endpoints, options.secret) {}

Cause Estimator::refuse(Cause cause) {
  if (cause != DOWNBEAT_CAUSE_NONE) ++refused_[cause];
  return cause;
}

uint64_t Estimator::at(uint64_t now) {
  now_ = std::max(now_, now);
  table_.expire(now_ > options_.live ? now_ - options_.live : 0, 2); // more than can join by one call
  return now_;
}

size_t Estimator::rules(std::string_view text) {
  if (!opened_) return rules_.add(text);
  refuse(DOWNBEAT_CAUSE_ARGUMENT);
  return 1;
}

Cause Estimator::open(uint64_t now, uint64_t name, const downbeat_address &remote) {
  now = at(now);
  if (name == 0) return refuse(DOWNBEAT_CAUSE_UNKNOWN);
  if (!isUnicast(remote)) return refuse(DOWNBEAT_CAUSE_ADDRESS);
  if (table_.find(name)) return refuse(DOWNBEAT_CAUSE_DUPLICATE);
  opened_ = true;
  Connection *made = table_.open(name, rules_.of(remote), now);
  if (!made) return refuse(DOWNBEAT_CAUSE_FULL);
  made->remote = remote;
  return DOWNBEAT_CAUSE_NONE;
}

Cause Estimator::close(uint64_t now, uint64_t name) {
  at(now);
  Connection *connection = table_.find(name);
  if (name == 0 || !connection) return refuse(DOWNBEAT_CAUSE_UNKNOWN);
  endTransfer(*connection, connection->time);
  if (Saved *saved = saved_.find(connection->remote); saved && saved->user == name) saved->user = 0;
  table_.close(*connection);
  return DOWNBEAT_CAUSE_NONE;
}

Cause Estimator::transfer(uint64_t now, const downbeat_address &remote, const SpandSums &sums, bool final) {
  now = at(now);
  if (!isUnicast(remote)) return refuse(DOWNBEAT_CAUSE_ADDRESS);
  if (sums.windows == 0 || sums.windows > uint64_t{options_.maximum_window} << 8) return refuse(DOWNBEAT_CAUSE_WINDOW);
  if (!within(sums.roundTrips, 1, longestRoundTrip)) return refuse(DOWNBEAT_CAUSE_ROUND_TRIP);
  if (sums.acks > sums.segments || sums.segments > UINT32_MAX) return refuse(DOWNBEAT_CAUSE_COUNTER);
  opened_ = true;
  PrefixRecord *record = table_.findOrMake(rules_.of(remote));
  if (!record) return refuse(DOWNBEAT_CAUSE_FULL);
  SpandSums dated = sums;
  dated.tick = SpandReports::tick(now);
  dated.reports = 1;
  addSpand(*record, dated, final);
  return DOWNBEAT_CAUSE_NONE;
}

} // namespace downbeat::estimator
