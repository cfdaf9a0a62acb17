// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "equal_paths.h"

#include <string>

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
#include <ns3/string.h>

using namespace ns3;

EqualPaths::EqualPaths(unsigned hosts, std::uint64_t rate, Time delay, unsigned packets,
                       const std::function<void(std::size_t host, std::uint64_t bytes)> &received) {
  NodeContainer nodes(hosts + 1);
  router_ = nodes.Get(hosts);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(nodes);
  // No queue disc above the device: the device's drop-tail queue is the buffer.
  PointToPointHelper path;
  path.DisableFlowControl();
  path.SetDeviceAttribute("DataRate", StringValue(std::to_string(rate) + "bps"));
  path.SetChannelAttribute("Delay", TimeValue(delay));
  path.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(std::to_string(packets) + "p"));
  Ipv4AddressHelper networks("10.1.0.0", "255.255.255.0");
  PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
  for (unsigned host = 0; host < hosts; ++host) {
    const NetDeviceContainer devices = path.Install(router_, nodes.Get(host));
    const Ipv4InterfaceContainer interfaces = networks.Assign(devices);
    networks.NewNetwork();
    addresses_.push_back(interfaces.GetAddress(1).Get());
    Ipv4StaticRoutingHelper()
        .GetStaticRouting(nodes.Get(host)->GetObject<Ipv4>())
        ->SetDefaultRoute(interfaces.GetAddress(0), 1);
    DynamicCast<PointToPointNetDevice>(devices.Get(0))
        ->GetQueue()
        ->TraceConnectWithoutContext("Drop", Callback<void, Ptr<const Packet>>([this](Ptr<const Packet>) { ++drops; }));
    const ApplicationContainer sink = sinks.Install(nodes.Get(host));
    sink.Start(Seconds(0));
    sink.Get(0)->TraceConnectWithoutContext(
        "Rx", Callback<void, Ptr<const Packet>, const Address &>(
                  [received, host](Ptr<const Packet> packet, const Address &) { received(host, packet->GetSize()); }));
  }
}
