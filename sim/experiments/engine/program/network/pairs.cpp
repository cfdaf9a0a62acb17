// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "pairs.h"

#include <cstring>

#include <ns3/inet-socket-address.h>
#include <ns3/simulator.h>
#include <ns3/udp-socket-factory.h>

using namespace ns3;

Pairs::Pairs(const PairsPlan &plan, const Network &network) : plan_(plan), arrivals_(plan.leaves.size(), -1) {
  const Ptr<Node> from = network.host(plan.from);
  sink_ = Socket::CreateSocket(network.host(plan.to), UdpSocketFactory::GetTypeId());
  sink_->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
  sink_->SetRecvCallback([this](Ptr<Socket>) { arrive(); });
  socket_ = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
  socket_->Connect(InetSocketAddress(Ipv4Address(network.address(plan.to)), port));
  for (std::uint32_t i = 0; i < plan.leaves.size(); ++i)
    Simulator::ScheduleWithContext(from->GetId(), NanoSeconds(plan.leaves[i]), &Pairs::send, this, i);
}

void Pairs::send(std::uint32_t number) {
  std::vector<std::uint8_t> payload(plan_.bytes - headers);
  std::memcpy(payload.data(), &number, sizeof number);
  socket_->Send(Create<Packet>(payload.data(), static_cast<std::uint32_t>(payload.size())));
}

void Pairs::arrive() {
  while (const Ptr<Packet> packet = sink_->Recv()) {
    std::uint32_t number = 0;
    packet->CopyData(reinterpret_cast<std::uint8_t *>(&number), sizeof number);
    arrivals_.at(number) = Simulator::Now().GetNanoSeconds();
  }
}

void Pairs::print(Json &json) const {
  json.open('{');
  json.field("label", plan_.label);
  json.field("departures", plan_.leaves);
  json.field("arrivals", arrivals_);
  json.close('}');
}
