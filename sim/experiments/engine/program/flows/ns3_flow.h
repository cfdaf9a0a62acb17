// SPDX-License-Identifier: BSD-2-Clause-Patent
// A connection of ns-3's own TCP, as cross traffic or to compare with.
#pragma once

#include <ns3/tcp-socket-base.h>

#include "flow.h"

class Ns3Flow : public Flow {
public:
  Ns3Flow(const FlowPlan &plan, const Marks &marks, ns3::Ptr<ns3::Node> node, std::uint32_t remote, std::uint16_t port);

  void start() override;
  void stop() override;
  void write(std::uint64_t bytes) override;

private:
  void watch();
  void fill();

  ns3::Ptr<ns3::Node> node_;
  ns3::Ptr<ns3::TcpSocketBase> socket_;
  std::uint32_t remote_;
  std::uint16_t port_;
  std::uint64_t given_ = 0, wanted_ = 0; // bytes
  std::uint32_t highest_ = 0;
  double ssthresh_ = 0; // segments
  bool sentAny_ = false, over_ = false;
};
