// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <ns3/nstime.h>
#include <ns3/packet.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/uinteger.h>

#include "flow.h"

using namespace ns3;

Receiver::Receiver(Ptr<Node> node, std::uint16_t port, Flow &flow)
    : socket_(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId())) {
  const FlowPlan &plan = flow.record.plan();
  // An accepted socket has its listener's attributes.
  socket_->SetAttribute("DelAckCount", UintegerValue(plan.ackEvery));
  socket_->SetAttribute("DelAckTimeout", TimeValue(NanoSeconds(plan.ackTimeout)));
  socket_->SetAttribute("RcvBufSize", UintegerValue(plan.rwnd));
  socket_->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
  socket_->Listen();
  const bool counts = !plan.core; // for a core the acknowledged bytes count
  socket_->SetAcceptCallback(
      MakeNullCallback<bool, Ptr<Socket>, const Address &>(),
      callback<Ptr<Socket>, const Address &>([&flow, counts](Ptr<Socket> connection, const Address &) {
        connection->SetRecvCallback(callback<Ptr<Socket>>([&flow, counts](Ptr<Socket> readable) {
          while (const Ptr<Packet> packet = readable->Recv()) {
            if (packet->GetSize() == 0) return;
            flow.record.received += packet->GetSize();
            if (counts) flow.record.progress(Simulator::Now().GetSeconds(), packet->GetSize());
          }
        }));
        connection->SetCloseCallbacks(callback<Ptr<Socket>>([](Ptr<Socket> ended) { ended->Close(); }),
                                      MakeNullCallback<void, Ptr<Socket>>());
      }));
}
