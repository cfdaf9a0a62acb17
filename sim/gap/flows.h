// SPDX-License-Identifier: BSD-2-Clause-Patent
// Flows that the pacer paces, and what it should grant them, computed beside it.
#pragma once

#include <vector>

#include "bench.h"

namespace gap {

/// Bytes of a frame that are not payload: Ethernet, IPv4 and TCP without options.
constexpr std::size_t headers = 54;

class Flows {
public:
  /// Each with the same rate, payload b/s, and payload.
  Flows(Bench &bench, std::size_t count, double rate, std::uint32_t payload, std::uint64_t segmentsEach);

  /// Books the flow's first segment.
  void begin(std::uint32_t flow);
  /// A grant: the flow's next segment is booked. True if it is the launch that it must be.
  void granted(std::uint32_t flow, Stamp launch);
  /// A segment has left: `first` and last SFD give the rate.
  void left(std::uint32_t flow, Time sfd);

  bool done() const { return grants_ == segmentsEach_ * flows_.size(); }
  std::uint64_t grants() const { return grants_; }
  /// Grants that were not exactly the one before plus its bytes times the spacing, rounded up to a stamp.
  std::uint64_t inexact() const { return inexact_; }
  /// Grants with a launch time before that of the grant in front of them.
  std::uint64_t outOfOrder() const { return outOfOrder_; }
  /// Of the worst flow, against the rate that was asked for; `seconds`: of its first to its last departure, the shortest.
  struct Rate {
    double error, seconds;
  };
  Rate rate() const;

private:
  struct Flow {
    Time departure = 0;          // of the newest grant, never rounded
    std::uint64_t segments = 0;  // granted
    std::uint64_t departed = 0;
    Time first = 0, last = 0;
  };

  Bench &bench_;
  double rate_;
  std::uint32_t payload_;
  std::uint64_t spacing_, segmentsEach_;
  std::vector<Flow> flows_;
  std::uint64_t grants_ = 0, inexact_ = 0, outOfOrder_ = 0;
  Stamp newest_ = 0;
};

} // namespace gap
