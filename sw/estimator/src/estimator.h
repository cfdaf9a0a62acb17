/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** The estimator: what downbeat_estimator.h declares, as a class. */
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

inline constexpr uint64_t LONGEST_ROUND_TRIP = 60'000'000'000; // ns
inline constexpr uint64_t LEAST_SEGMENT = 64;                  // bytes

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
  bool next_prefix(uint64_t now, size_t &cursor, downbeat_prefix_state &state);
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

  // report.cpp
  Cause check(uint64_t now, const Report &report, const Connection *connection) const;
  Cause check_loss(const Report &report, const Connection &connection, uint64_t most) const;
  void take_losses(const Report &report, Connection &connection);
  void take_window(uint64_t now, const Report &report, Connection &connection, bool lost);
  void take_round(const Report &report, Connection &connection, bool disturbed);
  void end_transfer(Connection &connection, uint64_t time);
  void give_spand(Connection &connection, uint64_t time, uint64_t window, bool final);
  bool add_spand(PrefixRecord &record, const SpandSums &sums, bool final);
  void learned(const downbeat_learned &learned) const {
    if (callback_) callback_(context_, &learned);
  }

  // start.cpp
  Cause check(const Request &request);
  void start_liss(const Request &request, uint64_t now, Start &start, bool averaged);
  void start_miss(const Request &request, uint64_t now, Start &start);
  void start_js(const Request &request, uint64_t now, Start &start);
  void start_spand(const Request &request, uint64_t now, Start &start);
  void start_resume(const Request &request, uint64_t now, Start &start, bool take);
  void state(PrefixRecord &record, uint64_t now, uint64_t but, downbeat_prefix_state &state);
  bool state_for(const Request &request, uint64_t now, downbeat_prefix_state &state);
  uint64_t round_trip(const Request &request, const downbeat_prefix_state &state);
  bool load_spand(std::string_view line, uint64_t now, uint64_t elapsed);
  bool load_saved(std::string_view line, uint64_t now, uint64_t elapsed);

  Options options_;
  Rules rules_;
  Table table_;
  SavedParameters saved_;
  std::array<uint64_t, DOWNBEAT_CAUSES> refused_{};
  uint64_t now_ = 0; // the latest that was told: time does not go back
  bool opened_ = false;
  void (*callback_)(void *, const downbeat_learned *) = nullptr;
  void *context_ = nullptr;
};

/** A problem with the options, or NULL. */
const char *problem(const Options &options);

} // namespace downbeat::estimator
