/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// The estimator: what downbeat_estimator.h declares, as a class.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "downbeat_estimator.h"
#include "saved.h"
#include "table.h"

namespace downbeat::estimator {

using Options = downbeat_estimator_options;

/** A path report of the connection `connection` to `remote`, by the names of its open. */
struct Report : downbeat_path_report {
  uint64_t connection = 0;
  downbeat_address remote{};
};
using Request = downbeat_start_request;
using Start = downbeat_host_start;
using Cause = downbeat_cause;

inline constexpr uint64_t longestRoundTrip = 60'000'000'000; // ns
inline constexpr uint64_t minSegment = 64;                  // bytes

class Estimator {
public:
  explicit Estimator(const Options &options);

  size_t rules(std::string_view text);
  Cause open(uint64_t now, uint64_t name, const downbeat_address &remote);
  Cause report(uint64_t now, const Report &report);
  Cause close(uint64_t now, uint64_t name);
  Cause transfer(uint64_t now, const downbeat_address &remote, const SpandSums &sums, bool final);
  Cause request(uint64_t now, const Request &request, Start &start, bool take);
  bool prefix(uint64_t now, const downbeat_address &remote, downbeat_prefix_state &state);
  bool nextPrefix(uint64_t now, size_t &cursor, downbeat_prefix_state &state);
  void observe(void (*callback)(void *, const downbeat_learned *), void *context) {
    callback_ = callback;
    context_ = context;
  }
  std::string save(uint64_t now);
  Cause load(uint64_t now, uint64_t elapsed, std::string_view text);
  uint64_t refused(Cause cause) const { return refused_[cause]; }
  size_t bytes() const { return sizeof *this + table_.bytes() + saved_.bytes() + rules_.bytes(); }

private:
  Cause refuse(Cause cause);
  uint64_t at(uint64_t now);

  /// report.cpp
  Cause check(uint64_t now, const Report &report, const Connection *connection) const;
  Cause checkLoss(const Report &report, const Connection &connection, uint64_t maxWindow) const;
  void takeLosses(const Report &report, Connection &connection);
  void takeWindow(uint64_t now, const Report &report, Connection &connection, bool lost);
  void takeRound(const Report &report, Connection &connection, bool disturbed);
  void endTransfer(Connection &connection, uint64_t time);
  void giveSpand(Connection &connection, uint64_t time, uint64_t window, bool final);
  bool addSpand(PrefixRecord &record, const SpandSums &sums, bool final);
  void learned(const downbeat_learned &learned) const {
    if (callback_) callback_(context_, &learned);
  }

  /// start.cpp
  Cause check(const Request &request);
  void startLiss(const Request &request, uint64_t now, Start &start, bool averaged);
  void startMiss(const Request &request, uint64_t now, Start &start);
  void startJs(const Request &request, uint64_t now, Start &start);
  void startSpand(const Request &request, uint64_t now, Start &start);
  void startResume(const Request &request, uint64_t now, Start &start, bool take);
  void state(PrefixRecord &record, uint64_t now, uint64_t but, downbeat_prefix_state &state);
  bool stateFor(const Request &request, uint64_t now, downbeat_prefix_state &state);
  uint64_t roundTrip(const Request &request, const downbeat_prefix_state &state);
  bool loadSpand(std::string_view line, uint64_t now, uint64_t elapsed);
  bool loadSaved(std::string_view line, uint64_t now, uint64_t elapsed);

  Options options_;
  Rules rules_;
  Table table_;
  SavedParameters saved_;
  std::array<uint64_t, DOWNBEAT_CAUSES> refused_{};
  uint64_t now_ = 0; // the latest that was given: time does not go back
  bool opened_ = false;
  void (*callback_)(void *, const downbeat_learned *) = nullptr;
  void *context_ = nullptr;
};

/// A problem with the options, or NULL.
const char *problem(const Options &options);

} // namespace downbeat::estimator
