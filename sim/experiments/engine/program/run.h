// SPDX-License-Identifier: BSD-2-Clause-Patent
// Plans that are alike until their warm-up ends, carried out to there once and one of them to its end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flows/core.h"
#include "flows/flow.h"
#include "network/network.h"
#include "network/pairs.h"
#include "network/traffic.h"
#include "plan/json.h"
#include "plan/plan.h"

/// The cost of all cores together.
struct CoreCost {
  double seconds = 0; // wall time
  std::uint64_t segments = 0; // data segments sent, retransmissions too
  std::uint64_t clocks = 0;
};

class Run {
public:
  /// ns-3's defaults must have been set.
  explicit Run(Plan plan);

  void warmUp();
  /// Runs to the end of `plan`, which is the constructor's or equals it until the warm-up ends.
  void go(const Plan &plan);
  /// The reason of an early end; empty: none.
  std::string failure() const;
  void print(Json &json) const;
  CoreCost cost() const;

private:
  struct Sample {
    double seconds;
    std::vector<double> windows;         // segments, by flow
    std::vector<std::uint64_t> progress; // bytes, by flow
    std::vector<std::uint32_t> queues;   // packets, by link
    std::vector<std::uint64_t> drops;    // since the measuring began
  };

  void addFlow(const FlowPlan &plan, std::uint16_t port, std::uint64_t name);
  void schedule(Flow &flow);
  void beginLate(const Plan &plan);
  void openEstimates();
  Estimates *estimatesOf(unsigned core) const;
  void beginMeasuring();
  void look();
  void sample();
  void printSamples(Json &json) const;

  Plan plan_; // flows refer to it
  Network network_;
  std::vector<std::unique_ptr<Estimates>> estimates_; // none, one for all cores, or one for each
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::vector<std::unique_ptr<Traffic>> traffic_;
  std::vector<std::unique_ptr<Pairs>> pairs_;
  std::vector<Sample> samples_;
  std::string failure_;
};
