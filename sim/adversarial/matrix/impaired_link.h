// SPDX-License-Identifier: BSD-2-Clause-Patent
// A link that is a whole bad path: what is lost, held back, doubled or damaged is drawn for each way.
#pragma once

#include <optional>

#include "cell.h"
#include "lib/path/impairments.h"
#include "ns3/core_link.h"

class ImpairedLink : public CoreLink {
public:
  ImpairedLink(std::uint64_t rate, ns3::Time delay, const Cell &cell)
      : CoreLink(rate, delay),
        toCore(cell.impairment, cell.seed, 0),
        outOfCore(cell.impairment, cell.seed, 1),
        hold_(ns3::Seconds(cell.hold)),
        cell_(cell) {}

  void Send(ns3::Ptr<ns3::Packet> packet, std::uint16_t protocol, ns3::Mac48Address to, ns3::Mac48Address from,
            ns3::Ptr<ns3::SimpleNetDevice> sender) override;
  void fromCore(const std::uint8_t *frame, std::size_t length, downbeat_time departure) override;

  Impairments toCore, outOfCore;
  /// Frames of the core that had a wrong checksum before anything touched them.
  std::uint64_t wrongFromCore = 0;
  /// When the first segment with data left the core.
  std::optional<ns3::Time> firstData;

private:
  ns3::Time held(const Impairments::Copy &copy) const { return hold_ * copy.held; }

  /// How much longer the spike lets a frame wait that leaves then.
  ns3::Time spike(ns3::Time departure) const;

  ns3::Time hold_;
  Cell cell_;
  unsigned dataSegments_ = 0;
};
