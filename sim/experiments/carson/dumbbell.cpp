// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "dumbbell.h"

#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/node-container.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/packet-sink.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/queue.h>
#include <ns3/random-variable-stream.h>
#include <ns3/simulator.h>
#include <ns3/string.h>

using namespace ns3;

namespace {

constexpr std::uint16_t port = 5001;
// A packet of 1,500 bytes has 2 more in ns-3's point-to-point framing, 38 on the core's wire.
constexpr std::uint64_t bottleneckRate = 1502 * 1000;   // 8 ms for a packet
constexpr std::uint64_t receiverRate = 1502 * 2000;     // 4 ms
constexpr std::uint64_t senderRate = 1538 * 2000;
constexpr double spread = 1; // seconds within which the flows begin

std::string bps(std::uint64_t rate) { return std::to_string(rate) + "bps"; }

} // namespace

ThesisDumbbell::ThesisDumbbell(const Plan &plan) : plan_(plan) {
  NodeContainer routers(2), receivers(static_cast<std::uint32_t>(plan.policies.size()));
  near_ = routers.Get(0), far_ = routers.Get(1);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(routers);
  stack.Install(receivers);

  // No queue disc above the device: the device's drop-tail queue is the buffer. It holds what waits behind the packet
  // being sent.
  PointToPointHelper bottleneck;
  bottleneck.DisableFlowControl();
  bottleneck.SetDeviceAttribute("DataRate", StringValue(bps(bottleneckRate)));
  bottleneck.SetChannelAttribute("Delay", TimeValue(MilliSeconds(40)));
  bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(std::to_string(plan.queue) + "p"));
  const NetDeviceContainer middle = bottleneck.Install(near_, far_);
  const Ipv4InterfaceContainer ends = Ipv4AddressHelper("10.2.0.0", "255.255.255.0").Assign(middle);
  Ipv4StaticRoutingHelper routing;
  routing.GetStaticRouting(near_->GetObject<Ipv4>())->SetDefaultRoute(ends.GetAddress(1), 1);
  routing.GetStaticRouting(far_->GetObject<Ipv4>())->SetDefaultRoute(ends.GetAddress(0), 1);
  DynamicCast<PointToPointNetDevice>(middle.Get(0))
      ->GetQueue()
      ->TraceConnectWithoutContext("Drop", Callback<void, Ptr<const Packet>>([this](Ptr<const Packet>) { ++drops; }));

  PointToPointHelper access;
  access.DisableFlowControl();
  access.SetDeviceAttribute("DataRate", StringValue(bps(receiverRate)));
  access.SetChannelAttribute("Delay", TimeValue(MilliSeconds(10)));
  access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
  Ipv4AddressHelper networks("10.3.0.0", "255.255.255.0");
  PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
  const auto start = CreateObject<UniformRandomVariable>();
  start->SetStream(1);
  for (std::uint32_t i = 0; i < plan.policies.size(); ++i) {
    const Ipv4InterfaceContainer last = networks.Assign(access.Install(far_, receivers.Get(i)));
    networks.NewNetwork();
    routing.GetStaticRouting(receivers.Get(i)->GetObject<Ipv4>())->SetDefaultRoute(last.GetAddress(0), 1);
    const ApplicationContainer sink = sinks.Install(receivers.Get(i));
    sink.Start(Seconds(0));
    const std::uint32_t network = 0x0a040000 + (i << 8);
    const Flow::Path path{senderRate, MilliSeconds(10), {network + 2, network + 1}, last.GetAddress(1).Get(), port};
    const std::string &policy = plan.policies[i];
    flows_.push_back(
        std::make_unique<Flow>(near_, path, policy, policy == "carson" ? plan.carsonArgument : 0, plan.seed * 64 + i));
    Flow &flow = *flows_.back();
    sink.Get(0)->TraceConnectWithoutContext(
        "Rx", Callback<void, Ptr<const Packet>, const Address &>(
                  [&flow](Ptr<const Packet> packet, const Address &) { flow.received += packet->GetSize(); }));
    Simulator::Schedule(Seconds(start->GetValue(0.001, spread)), &Flow::begin, &flow);
  }
}

void ThesisDumbbell::run() {
  if (!failure().empty()) return;
  Simulator::Stop(Seconds(plan_.duration));
  Simulator::Run();
  for (const auto &flow : flows_) flow->end();
}

std::string ThesisDumbbell::failure() const {
  for (const auto &flow : flows_)
    if (!flow->failure.empty()) return flow->failure;
  return "";
}
