// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "core_sender.h"

#include <algorithm>
#include <array>

#include <ns3/abort.h>
#include <ns3/arp-cache.h>
#include <ns3/drop-tail-queue.h>
#include <ns3/ipv4-interface.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/simulator.h>

using namespace ns3;

namespace {

constexpr std::array<std::uint8_t, 6> coreMac{2, 0, 0, 0, 0, 1}, routerMac{2, 0, 0, 0, 0, 2};

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

double bytesOf(std::uint64_t fixed) { return static_cast<double>(fixed) / 65536; }

} // namespace

CoreSender::CoreSender(const Options &options, Dumbbell &path, TextFile &events, Taps *taps)
    : path_(path), events_(events), taps_(taps), options_(options) {
  link_ = Create<CoreLink>(options.linkRate, path.linkDelay(), [this](const std::uint8_t *frame, std::size_t length, downbeat_time arrival) {
    if (taps_ != nullptr) taps_->frame(Pcapng::Direction::in, CoreLink::time(arrival), {frame, length});
    {
      const Stopwatch stopwatch(wall_);
      downbeat_put_frame(device_.get(), frame, length, arrival);
    }
    wakeAt(CoreLink::time(downbeat_next_deadline(device_.get())));
  });
  router_ = CreateObject<SimpleNetDevice>();
  router_->SetAddress(address(routerMac));
  router_->SetAttribute("PointToPointMode", BooleanValue(false));
  path.routerA()->AddDevice(router_);
  router_->SetChannel(link_);

  const auto ipv4 = path.routerA()->GetObject<Ipv4L3Protocol>();
  const std::uint32_t interface = ipv4->AddInterface(router_);
  ipv4->AddAddress(interface, Ipv4InterfaceAddress(Ipv4Address(Dumbbell::routerIp), "255.255.255.0"));
  ipv4->SetUp(interface);
  // Both know each other from the start: no ARP stands before the first SYN.
  ArpCache::Entry *entry = ipv4->GetInterface(interface)->GetArpCache()->Add(Ipv4Address(Dumbbell::senderIp));
  entry->SetMacAddress(address(coreMac));
  entry->MarkPermanent();
}

void CoreSender::start(std::vector<std::uint8_t> file) {
  file_ = std::move(file);
  downbeat_options own{};
  std::ranges::copy(coreMac, own.mac);
  own.ip = Dumbbell::senderIp;
  own.netmask = 0xffffff00;
  own.gateway = Dumbbell::routerIp;
  own.link_rate = options_.linkRate;
  own.secret = options_.seed * 0x9e3779b97f4a7c15; // any two seeds differ in many bits
  int error = 0;
  device_.reset(downbeat_create(&own, &error));
  if (device_ == nullptr && !check(error, "create")) return;
  downbeat_set_event_callback(
      device_.get(), [](void *self, const downbeat_event *event) { static_cast<CoreSender *>(self)->record(*event); }, this);
  if (!options_.waves.empty() && !check(downbeat_waves(device_.get(), options_.waves.c_str()), "waves")) return;

  downbeat_add_neighbour(device_.get(), Dumbbell::routerIp, routerMac.data());
  downbeat_parameters parameters{};
  parameters.startup = options_.startup.empty() ? nullptr : options_.startup.c_str();
  parameters.steady = options_.steady.empty() ? nullptr : options_.steady.c_str();
  parameters.initial_window = options_.initialWindow;
  parameters.ssthresh = static_cast<std::uint32_t>(options_.ssthresh);
  const int result = downbeat_connect(device_.get(), Dumbbell::receiverIp, Dumbbell::port, 0, &parameters, &connection_);
  if (check(result, "connect")) pump();
}

void CoreSender::pump() {
  std::array<std::uint8_t, 9018> frame;
  {
    const Stopwatch stopwatch(wall_);
    const downbeat_time target = CoreLink::stamp(Simulator::Now() + path_.linkDelay());
    // Until it has data the application must react at once; later the library holds enough.
    for (downbeat_time now = 0; now < target; application()) {
      now = accepted_ > 0 ? target : std::min(target, downbeat_next_deadline(device_.get()));
      downbeat_advance_to(device_.get(), now);
    }
  }
  downbeat_time departure;
  for (std::int64_t length; (length = downbeat_get_frame(device_.get(), frame.data(), frame.size(), &departure)) > 0;) {
    const std::span bytes(frame.data(), static_cast<std::size_t>(length));
    if (taps_ != nullptr) taps_->frame(Pcapng::Direction::out, CoreLink::time(departure), bytes);
    link_->fromCore(bytes.data(), bytes.size(), departure);
  }
  const downbeat_time deadline = downbeat_next_deadline(device_.get());
  if (deadline != DOWNBEAT_NEVER) wakeAt(CoreLink::time(deadline));
}

void CoreSender::wakeAt(Time time) {
  if (wake_.IsPending() && Time(wake_.GetTs()) <= time) return;
  wake_.Cancel();
  NS_ABORT_MSG_IF(time <= Simulator::Now(), "the core wants to be woken in the past");
  wake_ = Simulator::Schedule(time - Simulator::Now(), &CoreSender::pump, this);
}

void CoreSender::application() {
  if (failure_ || shutDown_) return;
  downbeat_info info;
  if (!check(downbeat_connection_info(device_.get(), connection_, &info), "connection")) return;
  if (info.error != 0 && !check(info.error, "connection")) return;
  while (accepted_ < file_.size()) {
    const std::int64_t count = downbeat_send(device_.get(), connection_, file_.data() + accepted_, file_.size() - accepted_);
    if (count == DOWNBEAT_WOULD_BLOCK || !check(count, "send")) return;
    accepted_ += static_cast<std::size_t>(count);
  }
  shutDown_ = check(downbeat_shutdown(device_.get(), connection_), "shutdown");
}

bool CoreSender::check(std::int64_t result, const char *what) {
  if (result >= 0) return true;
  failure_ = std::string(what) + ": " + downbeat_error_text(static_cast<int>(result));
  return false;
}

bool CoreSender::closed() const {
  downbeat_info info;
  if (downbeat_connection_info(device_.get(), connection_, &info) != DOWNBEAT_OK) return true;
  return info.peer_finished && (info.state == DOWNBEAT_TIME_WAIT || info.state == DOWNBEAT_CLOSED);
}

void CoreSender::record(const downbeat_event &event) {
  if (event.live) last_ = event;
  report_.segments += event.sent && event.sent_length > 0;
  report_.retransmissions += event.sent && event.retransmission;
  if (event.rtt_valid) report_.rttSamples.push_back(static_cast<double>(event.rtt) / 1e6);
  const std::string congestion = downbeat_congestion_text(event.congestion_kind);
  const char *reason = event.retransmission ? "retransmission" : congestion == "none" ? "" : congestion.c_str();
  events_.row("%llu,%u,%s,%s,%.3f,%.3f,%u,%s,%s,%s,%d,%u,%u,%u,%u,%s,%s,%llu,%llu,%u,%u,%u,%u,%u,%d,%d\n",
              static_cast<unsigned long long>(event.time), event.flow, downbeat_event_text(event.kind), downbeat_state_text(event.state),
              bytesOf(event.cwnd), bytesOf(event.ssthresh), event.flight,
              event.rtt_valid ? std::to_string(event.rtt).c_str() : "", reason, congestion.c_str(), event.uninflated, event.acked, event.segment_size,
              event.initial_window, event.initial_ssthresh, downbeat_startup_text(event.startup), downbeat_steady_text(event.steady),
              static_cast<unsigned long long>(event.cwnd), static_cast<unsigned long long>(event.ssthresh), event.acknowledged,
              event.next_send, event.send_window, event.sent_sequence, event.sent_length, event.retransmission, event.live);
}

SenderReport CoreSender::report() const {
  SenderReport report = report_;
  report.wallSeconds = std::chrono::duration<double>(wall_).count();
  downbeat_counters counters{};
  downbeat_get_counters(device_.get(), &counters);
  downbeat_info info{};
  downbeat_connection_info(device_.get(), connection_, &info);
  const auto add = [&](const char *name, const std::string &value) { report.details.emplace_back(name, value); };
  add("flow", std::to_string(info.flow));
  add("state", downbeat_state_text(info.state));
  add("bytes_acknowledged", std::to_string(info.acknowledged));
  add("bytes_unacknowledged", std::to_string(info.unacknowledged));
  add("bytes_accepted", std::to_string(accepted_));
  add("last_event", downbeat_event_text(last_.kind));
  add("last_event_ns", std::to_string(last_.time));
  add("last_event_congestion", downbeat_congestion_text(last_.congestion_kind));
  add("cwnd", std::to_string(last_.cwnd >> 16));
  add("ssthresh", std::to_string(last_.ssthresh >> 16));
  add("flight", std::to_string(last_.next_send - last_.acknowledged));
  add("send_window", std::to_string(last_.send_window));
  add("clocks", std::to_string(counters.clocks));
  add("events", std::to_string(counters.events));
  add("frames_in", std::to_string(counters.frames_in));
  add("frames_out", std::to_string(counters.frames_out));
  add("late_arrivals", std::to_string(counters.late_arrivals));
  add("late_departures", std::to_string(counters.late_departures));
  const char *name = nullptr;
  std::uint32_t value = 0;
  for (unsigned index = 0; downbeat_core_counter(device_.get(), index, &name, &value) == DOWNBEAT_OK; ++index) add(name, std::to_string(value));
  return report;
}
