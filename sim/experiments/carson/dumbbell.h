// SPDX-License-Identifier: BSD-2-Clause-Patent
// The thesis's dumbbell: a core for each sender, two routers, a host of ns-3 for each receiver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ns3/node.h>

#include "flow.h"

/// Kannan, thesis, figure 3.1: senders 2 Mb/s 10 ms, R1 - R2 1 Mb/s 40 ms with a drop-tail queue at R1, receivers 2
/// Mb/s 10 ms; packets of 1,000 bytes, an ACK for each.
///
/// Our packets have 1,500 bytes, as ns-3 tells no MSS; the links are as much faster, so that a packet takes the
/// thesis's 8 and 4 ms.
struct Plan {
  std::vector<std::string> policies;  // steady, one for each sender
  std::uint64_t carsonArgument = 0;
  std::uint32_t queue = 15;           // packets, behind the one being sent
  double duration = 400;              // virtual seconds
  std::uint64_t seed = 1;
};

class ThesisDumbbell {
public:
  explicit ThesisDumbbell(const Plan &plan);

  void run();
  std::string failure() const;
  const std::vector<std::unique_ptr<Flow>> &flows() const { return flows_; }
  std::uint64_t drops = 0;

private:
  Plan plan_;
  ns3::Ptr<ns3::Node> near_, far_;
  std::vector<std::unique_ptr<Flow>> flows_;
};
