// SPDX-License-Identifier: BSD-2-Clause-Patent
// The wire between an ns-3 node and the core: Ethernet frames, serialised once each way.
#pragma once

#include <functional>

#include <ns3/simple-channel.h>
#include <ns3/simple-net-device.h>

#include "downbeat_sim_core.h"

/// A channel of one SimpleNetDevice, the node's; its other end is the Verilated core. The core's own MAC serialises
/// its frames, so that only the node's frames are serialised here.
class CoreLink : public ns3::SimpleChannel {
public:
  using Deliver = std::function<void(const std::uint8_t *frame, std::size_t length, downbeat_time arrival)>;

  CoreLink(std::uint64_t rate, ns3::Time delay) : rate_(rate), delay_(delay) {}

  /// Sink of the frames that the node sends.
  void deliverTo(Deliver deliver) { deliver_ = std::move(deliver); }
  /// Sends a frame of the node; called by its device.
  void Send(ns3::Ptr<ns3::Packet> packet, std::uint16_t protocol, ns3::Mac48Address to, ns3::Mac48Address from,
            ns3::Ptr<ns3::SimpleNetDevice> sender) override;
  /// Sends a frame of the core, whose SFD left at `departure`.
  virtual void fromCore(const std::uint8_t *frame, std::size_t length, downbeat_time departure);

  std::uint64_t rate() const { return rate_; }
  ns3::Time delay() const { return delay_; }

  static ns3::Time time(downbeat_time stamp);
  static downbeat_time stamp(ns3::Time time);

private:
  ns3::Time bytes(std::size_t count) const;

  std::uint64_t rate_;
  ns3::Time delay_, free_;
  Deliver deliver_;
};
