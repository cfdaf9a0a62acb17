// SPDX-License-Identifier: BSD-2-Clause-Patent
// A plan, carried out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core.h"
#include "flow.h"
#include "json.h"
#include "network.h"
#include "plan.h"
#include "traffic.h"

class Run {
public:
  /// ns-3's defaults must have been set.
  explicit Run(const Plan &plan);

  void go();
  /// Why it ended early; empty: it did not.
  std::string failure() const;
  void print(Json &json) const;
  double coreWallSeconds() const;
  std::uint64_t coreSegments() const; // data segments that cores have sent, again or not
  std::uint64_t coreClocks() const;

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
  void openEstimates();
  Estimates *estimatesOf(unsigned core) const;
  void beginMeasuring();
  void look();
  void sample();
  void printSamples(Json &json) const;

  const Plan &plan_;
  Network network_;
  std::vector<std::unique_ptr<Estimates>> estimates_; // none, one for all cores, or one for each
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::vector<std::unique_ptr<Traffic>> traffic_;
  std::vector<Sample> samples_;
  std::string failure_;
};
