// SPDX-License-Identifier: BSD-2-Clause-Patent
// Many flows of one core that send all they may, each to a host of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "equal_paths.h"
#include "ns3/core_host.h"

class Crowd {
public:
  struct Plan {
    unsigned flows = 64;
    std::uint64_t linkRate = 1'000'000'000; // b/s, of the core
    std::uint64_t rate = 1'000'000;         // b/s, of each path
    std::uint64_t rtt = 40'000'000;         // ns, base
    unsigned buffer = 20;                   // packets, of each path
    double warmUp = 1, duration = 1;        // virtual seconds from the last flow's opening; of counting
    std::uint64_t seed = 1;                 // of the core's secret
  };

  explicit Crowd(const Plan &plan);

  void run();
  /// Why it ended early; empty: it did not.
  const std::string &failure() const { return failure_; }
  /// Bytes that arrived within the duration, by flow.
  const std::vector<std::uint64_t> &received() const { return received_; }
  std::uint64_t segments() const { return segments_; }
  std::uint64_t retransmissions() const { return retransmissions_; }
  std::uint64_t drops() const { return paths_.drops; }

private:
  /// A tenth of the way is the core's link.
  ns3::Time linkDelay() const { return ns3::NanoSeconds(static_cast<std::int64_t>(plan_.rtt / 20)); }
  ns3::Time pathDelay() const { return ns3::NanoSeconds(static_cast<std::int64_t>(plan_.rtt / 2)) - linkDelay(); }
  void application();
  bool check(std::int64_t result, const char *what);

  Plan plan_;
  EqualPaths paths_;
  CoreHost host_;
  std::vector<std::uint8_t> filler_;
  std::vector<downbeat_connection> connections_;
  std::vector<std::uint64_t> received_;
  bool counting_ = false;
  std::size_t established_ = 0;
  std::uint64_t segments_ = 0, retransmissions_ = 0;
  std::string failure_;
};
