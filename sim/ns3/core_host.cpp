// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "core_host.h"

#include <algorithm>

#include <ns3/abort.h>
#include <ns3/arp-cache.h>
#include <ns3/boolean.h>
#include <ns3/ipv4-interface.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/simulator.h>

using namespace ns3;

namespace {

constexpr std::array<std::uint8_t, 6> coreMac{2, 0, 0, 0, 0, 1}, nodeMac{2, 0, 0, 0, 0, 2};
constexpr std::uint32_t netmask = 0xffffff00;

Mac48Address address(const std::array<std::uint8_t, 6> &bytes) {
  Mac48Address mac;
  mac.CopyFrom(bytes.data());
  return mac;
}

/// Adds the time until it goes to a sum.
class Stopwatch {
public:
  using Clock = std::chrono::steady_clock;
  explicit Stopwatch(Clock::duration &sum) : sum_(sum), start_(Clock::now()) {}
  ~Stopwatch() { sum_ += Clock::now() - start_; }

private:
  Clock::duration &sum_;
  Clock::time_point start_;
};

} // namespace

CoreHost::CoreHost(Ptr<Node> node, Ptr<CoreLink> link, Addresses addresses, Time lookahead)
    : link_(link), addresses_(addresses), lookahead_(lookahead) {
  NS_ABORT_MSG_IF(lookahead > link->delay(), "a lookahead longer than the delay of the link");
  link->deliverTo(
      [this](const std::uint8_t *frame, std::size_t length, downbeat_time arrival) { toCore(frame, length, arrival); });
  const auto device = CreateObject<SimpleNetDevice>();
  device->SetAddress(address(nodeMac));
  device->SetAttribute("PointToPointMode", BooleanValue(false));
  node->AddDevice(device);
  device->SetChannel(link);

  const auto ipv4 = node->GetObject<Ipv4L3Protocol>();
  const std::uint32_t interface = ipv4->AddInterface(device);
  ipv4->AddAddress(interface, Ipv4InterfaceAddress(Ipv4Address(addresses.node), Ipv4Mask(netmask)));
  ipv4->SetUp(interface);
  ArpCache::Entry *entry = ipv4->GetInterface(interface)->GetArpCache()->Add(Ipv4Address(addresses.core));
  entry->SetMacAddress(address(coreMac));
  entry->MarkPermanent();
}

std::string CoreHost::open(std::uint64_t seed, const std::string &waves) {
  downbeat_sim_options own{};
  std::ranges::copy(coreMac, own.mac);
  own.ip = addresses_.core;
  own.netmask = netmask;
  own.gateway = addresses_.node;
  own.link_rate = link_->rate();
  own.secret = seed * 0x9e3779b97f4a7c15; // any two seeds differ in many bits
  int error = 0;
  device_.reset(downbeat_sim_create(&own, &error));
  if (device_ == nullptr) return std::string("create: ") + downbeat_error_text(error);
  if (!waves.empty() && (error = downbeat_sim_waves(device_.get(), waves.c_str())) != DOWNBEAT_OK)
    return std::string("waves: ") + downbeat_error_text(error);
  downbeat_sim_add_neighbour(device_.get(), addresses_.node, nodeMac.data());
  return "";
}

void CoreHost::toCore(const std::uint8_t *frame, std::size_t length, downbeat_time arrival) {
  if (listener_) listener_(Way::toCore, CoreLink::time(arrival), {frame, length});
  {
    const Stopwatch stopwatch(wall_);
    downbeat_sim_put_frame(device_.get(), frame, length, arrival);
  }
  wakeAt(CoreLink::time(downbeat_sim_next_deadline(device_.get())));
}

void CoreHost::pump() {
  std::array<std::uint8_t, 9018> frame;
  {
    const Stopwatch stopwatch(wall_);
    const downbeat_time target = CoreLink::stamp(Simulator::Now() + lookahead_);
    for (downbeat_time now = 0; now < target;) {
      now = attentive_ ? std::min(target, downbeat_sim_next_deadline(device_.get())) : target;
      downbeat_sim_advance_to(device_.get(), now);
      if (application_) application_();
    }
  }
  downbeat_time departure;
  for (std::int64_t length;
       (length = downbeat_sim_get_frame(device_.get(), frame.data(), frame.size(), &departure)) > 0;) {
    const auto size = static_cast<std::size_t>(length);
    if (listener_) listener_(Way::fromCore, CoreLink::time(departure), {frame.data(), size});
    link_->fromCore(frame.data(), size, departure);
  }
  const downbeat_time deadline = downbeat_sim_next_deadline(device_.get());
  if (deadline != DOWNBEAT_NEVER) wakeAt(CoreLink::time(deadline));
}

void CoreHost::wakeAt(Time time) {
  if (wake_.IsPending() && Time(wake_.GetTs()) <= time) return;
  wake_.Cancel();
  NS_ABORT_MSG_IF(time <= Simulator::Now(), "the core wants to be woken in the past");
  wake_ = Simulator::Schedule(time - Simulator::Now(), &CoreHost::pump, this);
}
