// SPDX-License-Identifier: BSD-2-Clause-Patent
// Counters and samples of a connection, a core's or ns-3's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/json.h"
#include "plan/plan.h"

class FlowRecord {
public:
  FlowRecord(const FlowPlan &plan, const Marks &marks);

  /// Times are s.
  void opened(double now) { opened_ = now; }
  void established(double now);
  bool isEstablished() const { return established_ >= 0; }
  double establishedAt() const { return established_; }
  /// Bytes more have been acknowledged (a core's) or have arrived in order (ns-3's).
  void progress(double now, std::uint64_t bytes);
  /// Segments, outside recovery; in recovery ssthresh.
  void window(double now, double segments);
  void sample(double seconds);
  /// A loss event that begins no new round of losses is none: a timeout within a round of a loss belongs to it.
  void loss(double now, std::uint64_t flight, bool timeout);
  bool hasLost() const { return lossSeen_; }
  /// Start-up is over: `loss`, or the policy's own decision.
  void exit(double now, const char *reason, double before, double after);
  bool hasLeftStartup() const { return !exitReason_.empty(); }
  void estimated(double segments);
  /// Results of the inline measurement, bytes/s of payload.
  void measured(double now, double capacity, double available);
  /// For a traced flow: bytes count from the first.
  void sent(double now, std::uint64_t first, std::uint32_t bytes);
  void acknowledged(double now);
  /// Westwood's rates, as windows in segments, and the window.
  void rates(double now, double bwe, double ere, double window);
  /// Times between a probe and the one before, and between their ACKs, s.
  void gap(double departure, double arrival);
  /// The write that is due next has begun at `now`.
  void wrote(double now) { begun_.push_back(now); }
  bool complete() const { return done_.size() == plan_.writes.size(); }
  bool over(double now);

  /// Rates, means and counters start at `now`.
  void begin(double now);
  /// Segments of data since the connection opened.
  std::uint64_t allSegments() const { return segmentsBefore_ + segments; }
  void end(double now) { account(now); }
  void print(Json &json) const;

  const FlowPlan &plan() const { return plan_; }
  double windowNow() const { return window_; }
  std::uint64_t total() const { return total_; }

  std::string failure, startReason; // startReason: the estimator's reason for its start
  std::uint64_t received = 0, segments = 0, retransmissions = 0, timeouts = 0, losses = 0;
  double segmentSize = 1460, ssthresh = 0; // bytes; segments
  double startWindow = 0, startSsthresh = 0, startJump = 0; // segments, from the estimator

private:
  struct Trace {
    std::vector<std::array<double, 3>> sent; // s since establishment, first byte, bytes
    std::vector<std::array<double, 2>> acks; // s since establishment, bytes acknowledged by then
    std::vector<std::array<double, 2>> gaps;
    std::vector<std::array<double, 4>> rates; // s since establishment, BWE, ERE, cwnd
  };

  void account(double now);

  const FlowPlan &plan_;
  const Marks &marks_;
  std::vector<std::uint64_t> atMarks_;
  std::vector<double> atSizes_; // s since establishment
  std::vector<double> begun_, done_, intervals_;
  std::vector<double> measuredAt_, capacities_, availables_; // s since establishment, bytes/s
  Trace trace_;
  std::string exitReason_;
  double opened_ = -1, established_ = -1, ended_ = -1, begin_ = 0;
  double exitTime_ = 0, exitBefore_ = 0, exitAfter_ = 0, firstEstimate_ = 0, lastEstimate_ = 0;
  double window_ = 0, since_ = 0, windowSeconds_ = 0, rttSum_ = 0, smallestRtt_ = 0;
  std::uint64_t rtts_ = 0, total_ = 0, counted_ = 0, sinceLoss_ = 0, toCover_ = 0, due_ = 0; // bytes
  std::uint64_t segmentsBefore_ = 0;
  bool lossSeen_ = false;
};
