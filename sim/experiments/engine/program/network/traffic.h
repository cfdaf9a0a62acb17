// SPDX-License-Identifier: BSD-2-Clause-Patent
// UDP beside the connections: constant rate, Poisson, Pareto on and off.
#pragma once

#include <cstdint>
#include <string>

#include <ns3/inet-socket-address.h>
#include <ns3/ipv4.h>
#include <ns3/random-variable-stream.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
#include <ns3/udp-socket-factory.h>

#include "network.h"
#include "plan/plan.h"

class Traffic {
public:
  /// Draws from the streams 3 `index` and the two behind it.
  Traffic(const TrafficPlan &plan, const Network &network, unsigned index) : plan_(plan) {
    sizes_->SetStream(3 * index);
    gaps_->SetStream(3 * index + 1);
    periods_->SetStream(3 * index + 2);
    const auto port = static_cast<std::uint16_t>(firstPort + index);
    const ns3::Ptr<ns3::Node> to = network.node(plan.to);
    sink_ = ns3::Socket::CreateSocket(to, ns3::UdpSocketFactory::GetTypeId());
    sink_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
    sink_->SetRecvCallback(ns3::Callback<void, ns3::Ptr<ns3::Socket>>([](ns3::Ptr<ns3::Socket> socket) {
      while (socket->Recv() != nullptr) {}
    }));
    socket_ = ns3::Socket::CreateSocket(network.node(plan.from), ns3::UdpSocketFactory::GetTypeId());
    socket_->Connect(ns3::InetSocketAddress(to->GetObject<ns3::Ipv4>()->GetAddress(1, 0).GetLocal(), port));
    for (const auto &[at, rate] : plan.rates)
      ns3::Simulator::Schedule(ns3::NanoSeconds(at), [this, rate = rate] {
        const bool idle = rate_ == 0;
        rate_ = static_cast<double>(rate);
        if (idle && rate != 0 && begun_ && talking_ && !next_.IsPending()) send();
      });
    ns3::Simulator::Schedule(ns3::NanoSeconds(plan.start), [this] {
      begun_ = true;
      if (plan_.kind == "pareto") return talk();
      if (rate_ != 0) send();
    });
  }
  Traffic(const Traffic &) = delete;
  Traffic &operator=(const Traffic &) = delete;

private:
  static constexpr std::uint16_t firstPort = 40'000;
  static constexpr std::uint32_t headers = 28, ppp = 2; // IPv4 and UDP; what the link adds

  void send() {
    if (rate_ == 0 || !talking_ || over()) return;
    const std::uint32_t size = draw();
    socket_->Send(ns3::Create<ns3::Packet>(size - headers));
    double seconds = 8.0 * (size + ppp) / rate_; // the rate counts what the link carries
    if (plan_.kind == "poisson") seconds = gaps_->GetValue(seconds, 0);
    next_ = ns3::Simulator::Schedule(ns3::Seconds(seconds), &Traffic::send, this);
  }

  void talk() {
    talking_ = true;
    send();
    ns3::Simulator::Schedule(period(plan_.on), [this] {
      talking_ = false;
      next_.Cancel();
      ns3::Simulator::Schedule(period(plan_.off), &Traffic::talk, this);
    });
  }

  /// Pareto with that mean.
  ns3::Time period(std::int64_t mean) {
    const double scale = static_cast<double>(mean) / 1e9 * (plan_.shape - 1) / plan_.shape;
    return ns3::Seconds(periods_->GetValue(scale, plan_.shape, 0));
  }

  std::uint32_t draw() {
    if (plan_.sizes.size() == 1) return plan_.sizes.front().first;
    double sum = 0;
    for (const auto &[size, weight] : plan_.sizes) sum += weight;
    double left = sizes_->GetValue(0, sum);
    for (const auto &[size, weight] : plan_.sizes)
      if ((left -= weight) < 0) return size;
    return plan_.sizes.back().first;
  }

  bool over() const { return plan_.stop >= 0 && ns3::Simulator::Now().GetNanoSeconds() >= plan_.stop; }

  const TrafficPlan &plan_;
  ns3::Ptr<ns3::UniformRandomVariable> sizes_ = ns3::CreateObject<ns3::UniformRandomVariable>();
  ns3::Ptr<ns3::ExponentialRandomVariable> gaps_ = ns3::CreateObject<ns3::ExponentialRandomVariable>();
  ns3::Ptr<ns3::ParetoRandomVariable> periods_ = ns3::CreateObject<ns3::ParetoRandomVariable>();
  ns3::Ptr<ns3::Socket> socket_, sink_;
  ns3::EventId next_;
  double rate_ = 0; // b/s
  bool begun_ = false, talking_ = true;
};
