// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-base.h>
#include <ns3/tcp-socket-factory.h>

#include "sender.h"

using namespace ns3;

namespace {

template <typename... Arguments, typename Function> Callback<void, Arguments...> callback(Function function) {
  return Callback<void, Arguments...>(function);
}

class Ns3Sender : public BulkSender {
public:
  Ns3Sender(const Plan &plan, Dumbbell &path) {
    node_ = CreateObject<Node>();
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(node_);
    PointToPointHelper access;
    access.DisableFlowControl();
    access.SetDeviceAttribute("DataRate", StringValue(std::to_string(plan.path.linkRate) + "bps"));
    access.SetChannelAttribute("Delay", TimeValue(path.linkDelay()));
    access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
    Ipv4AddressHelper("10.0.1.0", "255.255.255.0").Assign(access.Install(path.routerA(), node_));
    Ipv4StaticRoutingHelper().GetStaticRouting(node_->GetObject<Ipv4>())->SetDefaultRoute("10.0.1.1", 1);
  }

  void start() override {
    socket_ = DynamicCast<TcpSocketBase>(Socket::CreateSocket(node_, TcpSocketFactory::GetTypeId()));
    socket_->TraceConnectWithoutContext(
        "CongestionWindow",
        callback<std::uint32_t, std::uint32_t>([this](std::uint32_t, std::uint32_t now) { cwnd_ = now; }));
    socket_->TraceConnectWithoutContext("LastRTT", callback<Time, Time>([this](Time, Time now) {
                                          smallestRtt_ =
                                              std::min(smallestRtt_, static_cast<std::uint64_t>(now.GetNanoSeconds()));
                                        }));
    socket_->TraceConnectWithoutContext(
        "Tx", callback<Ptr<const Packet>, const TcpHeader &, Ptr<const TcpSocketBase>>(
                  [this](Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
                    if (packet->GetSize() == 0) return;
                    const std::uint32_t end = header.GetSequenceNumber().GetValue() + packet->GetSize();
                    const bool fresh = segments_++ == 0 || static_cast<std::int32_t>(end - highest_) > 0;
                    if (fresh) highest_ = end;
                    retransmissions_ += !fresh;
                  }));
    socket_->SetConnectCallback(callback<Ptr<Socket>>([this](Ptr<Socket>) {
                                  established_ = Simulator::Now().GetNanoSeconds();
                                  fill();
                                }),
                                callback<Ptr<Socket>>([this](Ptr<Socket>) { failure_ = "connect: no answer"; }));
    socket_->SetSendCallback(callback<Ptr<Socket>, std::uint32_t>([this](Ptr<Socket>, std::uint32_t) { fill(); }));
    socket_->SetCloseCallbacks(callback<Ptr<Socket>>([this](Ptr<Socket>) { failure_ = "closed"; }),
                               callback<Ptr<Socket>>([this](Ptr<Socket>) { failure_ = "closed by an error"; }));
    socket_->Bind();
    socket_->Connect(InetSocketAddress(Ipv4Address(Dumbbell::receiverIp), Dumbbell::port));
  }

private:
  void fill() {
    while (const std::uint32_t space = socket_->GetTxAvailable())
      if (socket_->Send(Create<Packet>(std::min<std::uint32_t>(space, 1 << 16)), 0) <= 0) return;
  }

  Ptr<Node> node_;
  Ptr<TcpSocketBase> socket_;
  std::uint32_t highest_ = 0;
};

} // namespace

std::unique_ptr<BulkSender> ns3Sender(const Plan &plan, Dumbbell &path) {
  return std::make_unique<Ns3Sender>(plan, path);
}
