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
  /// One for each rate (b/s of payload), all with the same payload, each for so many virtual seconds at least.
  Flows(Bench &bench, const std::vector<double> &rates, std::uint32_t payload, double seconds);

  /// Books the flow's first segment.
  void begin(std::uint32_t flow);
  /// A grant: the flow's next segment is booked.
  void granted(std::uint32_t flow, Stamp launch);
  /// A segment has left: the first and the last one give the rate.
  void left(std::uint32_t flow, Time sfd);

  bool done() const { return grants_ == segments_; }
  std::uint64_t grants() const { return grants_; }
  /// Grants that were not exactly the one before plus its bytes times the spacing, rounded up to a stamp.
  std::uint64_t inexact() const { return inexact_; }
  /// Grants with a launch time before that of the grant in front of them, and by how much at most.
  struct Disorder {
    std::uint64_t grants = 0;
    Time max = 0;
  };
  const Disorder &steady() const { return steady_; }
  /// The first of a flow, whose departure is a lead from the booking on: what falls due while it is booked may be
  /// granted first.
  const Disorder &starts() const { return starts_; }
  /// The worst flow against the rate requested; `seconds`: from its first to its last departure, the
  /// shortest.
  struct Rate {
    double error, seconds;
  };
  Rate rate() const;

private:
  struct Flow {
    double rate;
    std::uint64_t spacing;  // ns per byte, 32 fraction bits
    std::uint64_t segments; // in all
    std::uint64_t granted = 0, departed = 0;
    Time departure = 0; // the newest grant's, never rounded
    Time first = 0, last = 0;
  };

  Bench &bench_;
  std::uint32_t payload_;
  std::vector<Flow> flows_;
  std::uint64_t segments_ = 0; // over all flows
  std::uint64_t grants_ = 0, inexact_ = 0;
  Disorder steady_, starts_;
  Stamp newest_ = 0;
};

} // namespace gap
