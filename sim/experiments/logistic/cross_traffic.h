// SPDX-License-Identifier: BSD-2-Clause-Patent
// UDP from router A to the receiver, beside the connection on the bottleneck.
#pragma once

#include <array>
#include <cstdint>

#include <ns3/inet-socket-address.h>
#include <ns3/random-variable-stream.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
#include <ns3/udp-socket-factory.h>

#include "ns3/dumbbell.h"

/// IP packets of 40, 576 and 1,500 bytes at 7 : 4 : 1, at a rate that is constant until it is set anew: after each
/// comes what it took of it.
class CrossTraffic {
public:
  explicit CrossTraffic(Dumbbell &path) {
    sizes_->SetStream(stream);
    socket_ = ns3::Socket::CreateSocket(path.routerA(), ns3::UdpSocketFactory::GetTypeId());
    sink_ = ns3::Socket::CreateSocket(path.receiverDevice()->GetNode(), ns3::UdpSocketFactory::GetTypeId());
    sink_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), discard));
    sink_->SetRecvCallback(ns3::Callback<void, ns3::Ptr<ns3::Socket>>([](ns3::Ptr<ns3::Socket> socket) {
      while (socket->Recv() != nullptr) {}
    }));
    socket_->Connect(ns3::InetSocketAddress(ns3::Ipv4Address(Dumbbell::receiverIp), discard));
  }

  /// b/s of IP packets; 0: none.
  void rate(std::uint64_t rate) {
    rate_ = static_cast<double>(rate);
    if (!next_.IsPending()) send();
  }

private:
  static constexpr std::array<std::uint32_t, 12> mix{40, 40, 40, 40, 40, 40, 40, 576, 576, 576, 576, 1500};
  static constexpr std::uint32_t headers = 28;
  static constexpr std::uint16_t discard = 9;
  static constexpr std::int64_t stream = 2;

  void send() {
    if (rate_ == 0) return;
    const std::uint32_t size = mix.at(sizes_->GetInteger(0, mix.size() - 1));
    socket_->Send(ns3::Create<ns3::Packet>(size - headers));
    next_ = ns3::Simulator::Schedule(ns3::Seconds(size * 8 / rate_), &CrossTraffic::send, this);
  }

  double rate_ = 0;
  ns3::EventId next_;
  ns3::Ptr<ns3::UniformRandomVariable> sizes_ = ns3::CreateObject<ns3::UniformRandomVariable>();
  ns3::Ptr<ns3::Socket> socket_, sink_;
};
