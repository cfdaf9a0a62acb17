// SPDX-License-Identifier: BSD-2-Clause-Patent
// Constant-rate cross traffic in ns-3.
#pragma once

#include <cstdint>

#include <ns3/packet.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>

/// A source of packets of one size, equally far apart, until the simulation ends.
class ConstantRate {
public:
  /// `payload` bytes with each packet, through a connected socket; the first at `first`, one each `interval`.
  ConstantRate(ns3::Ptr<ns3::Socket> socket, std::uint32_t payload, ns3::Time first, ns3::Time interval)
      : socket_(socket), payload_(payload), interval_(interval) {
    ns3::Simulator::Schedule(first, &ConstantRate::send, this);
  }
  ConstantRate(const ConstantRate &) = delete;
  ConstantRate &operator=(const ConstantRate &) = delete;

private:
  void send() {
    socket_->Send(ns3::Create<ns3::Packet>(payload_));
    ns3::Simulator::Schedule(interval_, &ConstantRate::send, this);
  }

  ns3::Ptr<ns3::Socket> socket_;
  std::uint32_t payload_;
  ns3::Time interval_;
};
