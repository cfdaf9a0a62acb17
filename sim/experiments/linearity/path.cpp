// SPDX-License-Identifier: BSD-2-Clause-Patent
// gap_path CROSS SEED SECONDS: packets over the thesis' dumbbell (figure 4-5) beside CROSS constant-rate sources.
//
// Standard input has a line "id bytes picoseconds" for each frame: when its last byte has come to the first node, in
// order. Standard output gets "id picoseconds" for each that has come to the last node; what a full queue drops is not
// there.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <ns3/config.h>
#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/random-variable-stream.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
#include <ns3/string.h>
#include <ns3/udp-socket-factory.h>

#include "lib/path/constant_rate.h"

using namespace ns3;

namespace {

constexpr std::uint16_t port = 9;
constexpr std::uint32_t pppBytes = 2, headerBytes = 28; // on ns-3's link; IPv4 and UDP
constexpr std::uint32_t crossBytes = 210; // ns-2's packets of a constant-rate source unless told (thesis, p. 74)
const char *const rate = "1Mbps", *const queue = "50p";
constexpr std::uint64_t crossRate = 250'000; // b/s

/// Everything but the ends is one link type; the dumbbell's middle is longer.
NetDeviceContainer join(Ptr<Node> one, Ptr<Node> other, Time delay, Ipv4AddressHelper &addresses) {
  PointToPointHelper link;
  link.DisableFlowControl();
  link.SetDeviceAttribute("DataRate", StringValue(rate));
  link.SetChannelAttribute("Delay", TimeValue(delay));
  link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
  const NetDeviceContainer devices = link.Install(one, other);
  addresses.Assign(devices);
  addresses.NewNetwork();
  return devices;
}

Ptr<Socket> socketOf(Ptr<Node> node) { return Socket::CreateSocket(node, UdpSocketFactory::GetTypeId()); }

Ipv4Address addressOf(Ptr<Node> node) { return node->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(); }

struct Probe {
  std::uint64_t id;
  std::uint32_t bytes;
  std::int64_t picoseconds;
};

void arrive(Ptr<Socket> socket) {
  while (const Ptr<Packet> packet = socket->Recv()) {
    std::uint64_t id = 0;
    packet->CopyData(reinterpret_cast<std::uint8_t *>(&id), sizeof id);
    std::printf("%" PRIu64 " %" PRId64 "\n", id, Simulator::Now().GetPicoSeconds());
  }
}

void send(Ptr<Socket> socket, Probe probe) {
  std::vector<std::uint8_t> payload(probe.bytes - pppBytes - headerBytes);
  std::memcpy(payload.data(), &probe.id, sizeof probe.id);
  socket->Send(Create<Packet>(payload.data(), static_cast<std::uint32_t>(payload.size())));
}

} // namespace

int main(int count, char **arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: %s CROSS SEED SECONDS\n", arguments[0]);
    return 2;
  }
  const std::uint64_t cross = std::strtoull(arguments[1], nullptr, 10), seed = std::strtoull(arguments[2], nullptr, 10);
  Time::SetResolution(Time::PS);
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(seed);
  Config::SetDefault("ns3::ArpL3Protocol::RequestJitter", StringValue("ns3::ConstantRandomVariable[Constant=0]"));

  const auto sender = CreateObject<Node>(), left = CreateObject<Node>(), right = CreateObject<Node>(),
             receiver = CreateObject<Node>();
  NodeContainer sources(cross), sinks(cross), all(NodeContainer(sender, left, right, receiver), sources, sinks);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(all);
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  const Time access = MilliSeconds(10);
  join(sender, left, access, addresses);
  join(left, right, MilliSeconds(100), addresses);
  join(receiver, right, access, addresses);
  for (std::uint32_t i = 0; i < cross; ++i) {
    join(sources.Get(i), left, access, addresses);
    join(sinks.Get(i), right, access, addresses);
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  // Each source begins at a time of its own within its interval.
  const auto phase = CreateObject<UniformRandomVariable>();
  std::vector<std::unique_ptr<ConstantRate>> running;
  for (std::uint32_t i = 0; i < cross; ++i) {
    const Ptr<Socket> socket = socketOf(sources.Get(i)), sink = socketOf(sinks.Get(i));
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
    socket->Connect(InetSocketAddress(addressOf(sinks.Get(i)), port));
    const double interval = 8.0 * crossBytes / crossRate;
    running.push_back(std::make_unique<ConstantRate>(socket, crossBytes - pppBytes - headerBytes,
                                                     Seconds(phase->GetValue(0, interval)), Seconds(interval)));
  }

  const Ptr<Socket> probes = socketOf(sender), sink = socketOf(receiver);
  sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
  sink->SetRecvCallback(Callback<void, Ptr<Socket>>(&arrive));
  probes->Connect(InetSocketAddress(addressOf(receiver), port));
  Probe probe{};
  while (std::scanf("%" SCNu64 " %" SCNu32 " %" SCNd64, &probe.id, &probe.bytes, &probe.picoseconds) == 3)
    Simulator::ScheduleWithContext(sender->GetId(), PicoSeconds(probe.picoseconds), &send, probes, probe);
  Simulator::Stop(Seconds(std::strtod(arguments[3], nullptr)));
  Simulator::Run();
  Simulator::Destroy();
}
