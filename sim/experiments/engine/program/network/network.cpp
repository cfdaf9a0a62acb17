// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "network.h"

#include <ns3/channel.h>
#include <ns3/double.h>
#include <ns3/error-model.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/queue-disc.h>
#include <ns3/queue.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/traffic-control-helper.h>

#include "routes.h"

using namespace ns3;

namespace {

/// Above the streams of all traffic.
constexpr std::int64_t lossStreams = 1'000'000;
/// Networks of a router's hosts are in one /16, as a server's clients are in one prefix.
constexpr std::uint32_t links = 10u << 24 | 1u << 16, hosts = 10u << 24 | 64u << 16, mask = 0xffffff00;

PointToPointHelper link(std::uint64_t rate, std::int64_t delay, const std::string &queue) {
  PointToPointHelper helper;
  helper.SetDeviceAttribute("DataRate", StringValue(std::to_string(rate) + "bps"));
  helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay)));
  helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
  return helper;
}

/// Destroys a share of the packets that arrive at a device, drawn from a stream of its own.
void destroy(const Ptr<NetDevice> &device, double share, unsigned index) {
  const Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
  errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
  errors->SetRate(share);
  errors->AssignStreams(lossStreams + index);
  DynamicCast<PointToPointNetDevice>(device)->SetReceiveErrorModel(errors);
}

/// A packet on the way keeps the delay with which it began.
void change(const NetDeviceContainer &devices, const LinkChange &to, unsigned index) {
  for (unsigned end = 0; end < 2; ++end) {
    const auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
    if (to.rate >= 0) device->SetDataRate(DataRate(static_cast<std::uint64_t>(to.rate)));
    if (to.delay >= 0) device->GetChannel()->SetAttribute("Delay", TimeValue(NanoSeconds(to.delay)));
  }
  if (to.loss >= 0) destroy(devices.Get(1), to.loss, index);
}

Ipv4InterfaceContainer assign(std::uint32_t network, const NetDeviceContainer &devices) {
  return Ipv4AddressHelper(Ipv4Address(network), Ipv4Mask(mask)).Assign(devices);
}

} // namespace

void QueueWatch::begin() {
  begin_ = since_ = Simulator::Now().GetSeconds();
  arrived = dropped = 0;
  integral_ = 0;
  max_ = packets_;
}

void QueueWatch::changed(std::uint32_t packets) {
  const double now = Simulator::Now().GetSeconds();
  integral_ = integral(now);
  since_ = now;
  packets_ = packets;
  max_ = std::max(max_, packets);
}

void QueueWatch::print(Json &json) const {
  const double now = Simulator::Now().GetSeconds();
  json.open('{');
  json.field("arrived", arrived);
  json.field("dropped", dropped);
  json.field("mean_packets", now > begin_ ? integral(now) / (now - begin_) : 0.0);
  json.field("max_packets", max_);
  json.close('}');
}

Network::Network(const Plan &plan) : hostsAt_(plan.routers) {
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  for (unsigned i = 0; i < plan.routers; ++i) routers_.push_back(CreateObject<Node>());
  for (const Ptr<Node> &router : routers_) stack.Install(router);
  for (unsigned i = 0; i < plan.links.size(); ++i) join(plan.links[i], i);
  for (unsigned i = 0; i < plan.hosts.size(); ++i) {
    hosts_.push_back(CreateObject<Node>());
    stack.Install(hosts_.back());
    join(plan.hosts[i], i);
  }
}

/// RED is a queue disc above a device that holds the packet which is being sent; drop-tail is the device's own queue.
void Network::join(const LinkPlan &plan, unsigned index) {
  const bool red = plan.queue.redHigh > 0;
  PointToPointHelper helper = link(plan.rate, plan.delay, red ? "1p" : plan.queue.size);
  if (!red) helper.DisableFlowControl();
  const NetDeviceContainer devices = helper.Install(router(plan.a), router(plan.b));
  if (plan.loss > 0) destroy(devices.Get(1), plan.loss, index);
  for (const LinkChange &to : plan.changes)
    Simulator::Schedule(NanoSeconds(to.at), [devices, to, index] { change(devices, to, index); });
  QueueWatch &watch = *watches_.emplace_back(std::make_unique<QueueWatch>());
  if (red) {
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue(plan.queue.size), "MinTh",
                             DoubleValue(plan.queue.redLow), "MaxTh", DoubleValue(plan.queue.redHigh), "LinkBandwidth",
                             StringValue(std::to_string(plan.rate) + "bps"), "LinkDelay",
                             TimeValue(NanoSeconds(plan.delay)), "MeanPktSize", UintegerValue(1500));
    const Ptr<QueueDisc> disc = control.Install(devices).Get(0);
    using Item = Callback<void, Ptr<const QueueDiscItem>>;
    disc->TraceConnectWithoutContext("Enqueue", Item([&watch](Ptr<const QueueDiscItem>) { ++watch.arrived; }));
    disc->TraceConnectWithoutContext("Drop",
                                     Item([&watch](Ptr<const QueueDiscItem>) { ++watch.arrived, ++watch.dropped; }));
    disc->TraceConnectWithoutContext("PacketsInQueue",
                                     Callback<void, std::uint32_t, std::uint32_t>(
                                         [&watch](std::uint32_t, std::uint32_t packets) { watch.changed(packets); }));
  } else {
    watchDropTail(watch, devices);
  }
  assign(links + (index << 8), devices);
}

void Network::watchDropTail(QueueWatch &watch, const NetDeviceContainer &devices) {
  const Ptr<Queue<Packet>> queue = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
  using Item = Callback<void, Ptr<const Packet>>;
  queue->TraceConnectWithoutContext("Enqueue", Item([&watch](Ptr<const Packet>) { ++watch.arrived; }));
  queue->TraceConnectWithoutContext("Drop", Item([&watch](Ptr<const Packet>) { ++watch.arrived, ++watch.dropped; }));
  queue->TraceConnectWithoutContext("PacketsInQueue",
                                    Callback<void, std::uint32_t, std::uint32_t>(
                                        [&watch](std::uint32_t, std::uint32_t packets) { watch.changed(packets); }));
}

void Network::join(const AccessPlan &access, unsigned index) {
  PointToPointHelper helper = link(access.rate, access.delay, "100000p");
  helper.DisableFlowControl();
  const NetDeviceContainer devices = helper.Install(router(access.at), hosts_[index]);
  const std::uint32_t network = hosts + (access.at << 16) + (hostsAt_[access.at]++ << 8);
  const Ipv4InterfaceContainer interfaces = assign(network, devices);
  addresses_.push_back(interfaces.GetAddress(1).Get());
  const auto host = Ipv4StaticRoutingHelper().GetStaticRouting(hosts_[index]->GetObject<Ipv4>());
  host->SetDefaultRoute(interfaces.GetAddress(0), interfaces.Get(1).second);
}

void Network::route() const { setRoutes(routers_); }

Ptr<Node> Network::node(const std::string &name) const {
  const auto index = static_cast<unsigned>(std::stoul(name.substr(1)));
  return name.front() == 'h' ? host(index) : router(index);
}
