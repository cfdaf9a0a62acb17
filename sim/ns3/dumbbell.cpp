// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "dumbbell.h"

#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/error-model.h>
#include <ns3/global-value.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/string.h>

using namespace ns3;

namespace {

/// An access link's share of the one-way delay.
constexpr double accessShare = 0.05;
constexpr std::int64_t lossStream = 1;

std::string bps(std::uint64_t rate) { return std::to_string(rate) + "bps"; }

} // namespace

Dumbbell::Dumbbell(const Options &options)
    : linkDelay_(NanoSeconds(static_cast<std::int64_t>(accessShare * static_cast<double>(options.rtt) / 2))),
      bottleneckDelay_(NanoSeconds(static_cast<std::int64_t>(options.rtt / 2)) - 2 * linkDelay_) {
  // 6.4 ns of a byte at 10 Gb/s must not become 6.
  Time::SetResolution(Time::PS);
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(options.seed);
  settings_["RngRun"] = std::to_string(options.seed);
  // Without it IP and TCP checksums are zero, and the core drops such frames as it must.
  bind("ChecksumEnabled", "true");
  setTcp(options);
  build(options);
}

void Dumbbell::bind(const std::string &global, const std::string &value) {
  GlobalValue::Bind(global, StringValue(value));
  settings_[global] = value;
}

void Dumbbell::set(const std::string &attribute, const std::string &value) {
  Config::SetDefault(attribute, StringValue(value));
  settings_[attribute] = value;
}

/// The same for the receiver and for ns-3's own sender, which is to be comparable with the core.
void Dumbbell::setTcp(const Options &options) {
  set("ns3::TcpL4Protocol::SocketType", "ns3::TcpLinuxReno");
  set("ns3::TcpL4Protocol::RecoveryType", "ns3::TcpClassicRecovery");
  set("ns3::TcpSocket::SegmentSize", std::to_string(options.segmentSize));
  set("ns3::TcpSocket::InitialCwnd", std::to_string(options.initialWindow));
  set("ns3::TcpSocket::InitialSlowStartThreshold", std::to_string(options.ssthresh));
  set("ns3::TcpSocket::RcvBufSize", std::to_string(4 << 20));
  set("ns3::TcpSocket::SndBufSize", std::to_string(1 << 20));
  set("ns3::TcpSocket::DelAckCount", "2");
  set("ns3::TcpSocket::DelAckTimeout", "200ms");
  set("ns3::TcpSocket::ConnTimeout", "1s");
  set("ns3::TcpSocket::ConnCount", "15");
  set("ns3::TcpSocket::DataRetries", "15");
  set("ns3::TcpSocket::PersistTimeout", "6s");
  set("ns3::TcpSocketBase::WindowScaling", "true");
  set("ns3::TcpSocketBase::Sack", "false");
  set("ns3::TcpSocketBase::Timestamp", "false");
  set("ns3::TcpSocketBase::MinRto", "1s");
  set("ns3::TcpSocketBase::ClockGranularity", "1ms");
  set("ns3::TcpSocketBase::ReTxThreshold", "3");
  set("ns3::TcpSocketBase::LimitedTransmit", "false");
  set("ns3::TcpSocketBase::UseEcn", "Off");
  set("ns3::TcpSocketState::EnablePacing", "false");
  // An ARP request leaves at once instead of up to 10 ms later.
  set("ns3::ArpL3Protocol::RequestJitter", "ns3::ConstantRandomVariable[Constant=0]");
}

void Dumbbell::build(const Options &options) {
  NodeContainer nodes(3);
  routerA_ = nodes.Get(0);
  routerB_ = nodes.Get(1);
  receiver_ = nodes.Get(2);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(nodes);

  // No queue disc above the device: the device's drop-tail queue is the buffer.
  PointToPointHelper bottleneck;
  bottleneck.DisableFlowControl();
  bottleneck.SetDeviceAttribute("DataRate", StringValue(bps(options.rate)));
  bottleneck.SetChannelAttribute("Delay", TimeValue(bottleneckDelay_));
  const std::string size = options.bufferPackets != 0 ? std::to_string(options.bufferPackets) + "p"
                                                      : std::to_string(options.bufferBytes()) + "B";
  bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(size));
  bottleneck_ = bottleneck.Install(routerA_, routerB_);
  settings_["bottleneck.MaxSize"] = size;
  settings_["bottleneck.DataRate"] = bps(options.rate);
  settings_["bottleneck.Delay"] = std::to_string(bottleneckDelay_.GetNanoSeconds()) + "ns";

  PointToPointHelper access;
  access.DisableFlowControl();
  access.SetDeviceAttribute("DataRate", StringValue(bps(options.linkRate)));
  access.SetChannelAttribute("Delay", TimeValue(linkDelay_));
  access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
  const NetDeviceContainer last = access.Install(routerB_, receiver_);
  receiverDevice_ = last.Get(1);
  settings_["access.DataRate"] = bps(options.linkRate);
  settings_["access.Delay"] = std::to_string(linkDelay_.GetNanoSeconds()) + "ns";

  Ipv4AddressHelper("10.0.2.0", "255.255.255.0").Assign(bottleneck_);
  Ipv4AddressHelper("10.0.3.0", "255.255.255.0").Assign(last);
  Ipv4StaticRoutingHelper routing;
  routing.GetStaticRouting(routerA_->GetObject<Ipv4>())->AddNetworkRouteTo("10.0.3.0", "255.255.255.0", "10.0.2.2", 1);
  routing.GetStaticRouting(routerB_->GetObject<Ipv4>())->AddNetworkRouteTo("10.0.1.0", "255.255.255.0", "10.0.2.1", 1);
  routing.GetStaticRouting(receiver_->GetObject<Ipv4>())->SetDefaultRoute("10.0.3.1", 1);

  queue_ = DynamicCast<PointToPointNetDevice>(bottleneckIn())->GetQueue();
  queue_->TraceConnectWithoutContext("Drop",
                                     Callback<void, Ptr<const Packet>>([this](Ptr<const Packet>) { ++queueDrops; }));

  const auto errors = CreateObject<RateErrorModel>();
  errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
  errors->SetRate(options.loss);
  errors->AssignStreams(lossStream);
  const auto behind = DynamicCast<PointToPointNetDevice>(bottleneckOut());
  behind->SetReceiveErrorModel(errors);
  behind->TraceConnectWithoutContext("PhyRxDrop",
                                     Callback<void, Ptr<const Packet>>([this](Ptr<const Packet>) { ++randomLosses; }));
  settings_["RateErrorModel.ErrorRate"] = std::to_string(options.loss);

  PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
  const ApplicationContainer applications = sink.Install(receiver_);
  applications.Start(Seconds(0));
  sink_ = DynamicCast<PacketSink>(applications.Get(0));
}

std::uint64_t Dumbbell::queueBytes() const { return queue_->GetNBytes(); }
