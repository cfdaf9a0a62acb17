// SPDX-License-Identifier: BSD-2-Clause-Patent
// A link that is a whole bad path: what is lost, held back, doubled or damaged is drawn for each way.
#pragma once

#include "lib/path/impairments.h"
#include "ns3/core_link.h"

class ImpairedLink : public CoreLink {
public:
  ImpairedLink(std::uint64_t rate, ns3::Time delay, ns3::Time hold, const Impairment &shares, std::uint64_t seed)
      : CoreLink(rate, delay), toCore(shares, seed, 0), outOfCore(shares, seed, 1), hold_(hold) {}

  void Send(ns3::Ptr<ns3::Packet> packet, std::uint16_t protocol, ns3::Mac48Address to, ns3::Mac48Address from,
            ns3::Ptr<ns3::SimpleNetDevice> sender) override;
  void fromCore(const std::uint8_t *frame, std::size_t length, downbeat_time departure) override;

  Impairments toCore, outOfCore;
  /// Frames of the core that had a wrong checksum before anything touched them.
  std::uint64_t wrongFromCore = 0;

private:
  ns3::Time held(const Impairments::Copy &copy) const { return hold_ * copy.held; }

  ns3::Time hold_;
};
