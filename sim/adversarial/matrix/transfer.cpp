// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "transfer.h"

#include <string_view>
#include <utility>

#include <ns3/internet-stack-helper.h>
#include <ns3/simulator.h>

#include "linux/file_transfer.h"
#include "linux/trace_log.h"

using namespace ns3;

namespace {

constexpr std::size_t ethernetHeader = 14;

Ptr<Node> host() {
  const auto node = CreateObject<Node>();
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(node);
  return node;
}

} // namespace

Transfer::Transfer(const Cell &cell)
    : cell_(cell),
      node_(host()),
      link_(Create<ImpairedLink>(rate, NanoSeconds(delay), cell)),
      host_(node_, link_, {Peer::coreIp, Peer::ip}, NanoSeconds(lookahead)) {
  failure_ = host_.open(cell.seed, cell.waves);
  if (!failure_.empty()) return;
  if (!cell.pcap.empty()) {
    capture_.emplace(cell.pcap, "Downbeat, make matrix",
                     "Times are nanoseconds of the simulation: the instant of the frame's SFD (start-of-frame "
                     "delimiter) at the core.");
    captured_ = capture_->interface(Pcapng::Link::ethernet, "core", "the core's end of the path", rate);
    if (!*capture_) failure_ = "cannot write " + cell.pcap;
  }
  downbeat_sim_set_event_callback(
      host_.device(), [](void *self, const downbeat_event *event) { static_cast<Transfer *>(self)->record(*event); },
      this);
  host_.listen([this](CoreHost::Way way, Time sfd, std::span<const std::uint8_t> frame) { hear(way, sfd, frame); });
  if (cell.coreSends) {
    sink_ = std::make_unique<PeerSink>(node_, cell.received);
    downbeat_parameters parameters{};
    parameters.initial_window = cell.initialWindow;
    parameters.no_tail_loss_probe = parameters.no_rack = parameters.no_undo = parameters.no_prr =
        parameters.no_growth_limit = !cell.rack;
    application_ = std::make_unique<FileSender>(host_.device(), cell.sent, Peer::ip, Peer::port, &parameters);
  } else {
    application_ = std::make_unique<FileReceiver>(host_.device(), cell.received, Peer::port);
    source_ = std::make_unique<PeerSource>(node_, cell.sent);
  }
  host_.run([this] { step(); });
}

void Transfer::run() {
  if (failure_.empty()) {
    host_.pump();
    look();
    Simulator::Run();
    settle(Time::Max());
  }
  end_ = Simulator::Now();
  IdleWatch &idle = cell_.coreSends ? coreIdle_ : source_->watch;
  if (!finished()) {
    if (failure_.empty()) failure_ = "nothing is left to happen: no event in ns-3, no deadline in the core";
    idle.end(end_);
    coreAcknowledgments_.end(end_);
  }
}

bool Transfer::finished() const {
  const auto &over = sink_ ? sink_->overSince : source_->overSince;
  return application_->finished() || (over && (Simulator::Now() - *over).GetSeconds() > lastWords);
}

void Transfer::step() {
  application_->step();
  if (application_->bytes() > 0) host_.attentive(false);
  if (application_->finished()) Simulator::Stop();
}

/// Now and then: is there any progress?
void Transfer::look() {
  const Peer &peer = sink_ ? static_cast<Peer &>(*sink_) : *source_;
  const std::uint64_t progress = application_->bytes() + peer.bytes;
  if (progress != progress_) {
    progress_ = progress;
    lastProgress_ = Simulator::Now();
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wallStart_;
  if (!application_->failure().empty())
    failure_ = application_->failure();
  else if (!peer.failure.empty())
    failure_ = peer.failure;
  else if ((Simulator::Now() - lastProgress_).GetSeconds() > stall)
    failure_ = "no progress for " + std::to_string(static_cast<int>(stall)) + " virtual seconds";
  else if (wall.count() > cell_.wallLimit)
    failure_ = "not done within " + std::to_string(static_cast<int>(cell_.wallLimit)) + " s of wall time";
  settle(Simulator::Now());
  if (!failure_.empty() || finished()) return Simulator::Stop();
  Simulator::Schedule(MilliSeconds(100), &Transfer::look, this);
}

void Transfer::hear(CoreHost::Way way, Time sfd, std::span<const std::uint8_t> frame) {
  const bool in = way == CoreHost::Way::toCore;
  const auto direction = in ? Pcapng::Direction::in : Pcapng::Direction::out;
  if (capture_) capture_->packet(captured_, direction, static_cast<std::uint64_t>(sfd.GetNanoSeconds()), frame);
  const auto segment = Segment::of(frame.subspan(ethernetHeader));
  if (!segment) return; // the core drops it too
  later(sfd, [=, this] {
    if (in) {
      coreAcknowledgments_.arrived(sfd, *segment);
      coreIdle_.arrived(sfd, *segment);
    } else {
      coreAcknowledgments_.departed(sfd, *segment);
      coreIdle_.departed(sfd, *segment);
    }
  });
}

/// The core's trace says which round trips it sampled and when its timer expired; what its RTO must then be is computed
/// here.
void Transfer::record(const downbeat_event &event) {
  if (last_.size() == lastEvents) last_.pop_front();
  last_.push_back(event);
  const std::string_view congestion = downbeat_sim_congestion_text(event.congestion_kind);
  const bool acknowledges = event.live && (event.acked > 0 || congestion == "established");
  const bool expires = event.live && (congestion == "timeout" || congestion == "timeoutAgain");
  if (!acknowledges && !expires && !event.rtt_valid) return;
  later(NanoSeconds(static_cast<std::int64_t>(event.time)), [=, this] {
    if (event.rtt_valid) rto_.sample(static_cast<double>(event.rtt) / 1e9);
    if (acknowledges) rto_.acknowledge();
    if (expires) rto_.expire();
    const Time rto = Seconds(rto_.seconds());
    expires ? coreIdle_.expired(rto) : coreIdle_.sampled(rto);
  });
}

void Transfer::settle(Time until) {
  for (auto next = heard_.begin(); next != heard_.end() && next->first <= until; next = heard_.erase(next))
    next->second();
  if (capture_) capture_->settle(static_cast<std::uint64_t>(std::min(until, Simulator::Now()).GetNanoSeconds()));
}

double Transfer::completionSeconds() const {
  return sink_ && link_->firstData ? (sink_->lastByte - *link_->firstData).GetSeconds() : 0;
}

void Transfer::print(std::ostream &out) const {
  const IdleWatch &idle = cell_.coreSends ? coreIdle_ : source_->watch;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wallStart_;
  downbeat_sim_counters counters{};
  downbeat_sim_get_counters(host_.device(), &counters);
  downbeat_sim_info info{};
  const bool known = application_->info(info);
  out << "{\"failure\": \"" << failure_ << "\", \"simulated_seconds\": " << end_.GetSeconds()
      << ", \"completion_seconds\": " << completionSeconds() << ", \"segments\": " << idle.segments
      << ", \"retransmissions\": " << idle.retransmissions << ", \"longest_idle_rto\": " << idle.longest
      << ", \"longest_idle_seconds\": " << idle.longestIdle.GetSeconds()
      << ", \"longest_idle_at\": " << idle.longestAt.GetSeconds()
      << ", \"idle_beyond_rto_seconds\": " << idle.longestOver.GetSeconds()
      << ", \"longest_answer_seconds\": " << coreAcknowledgments_.longest.GetSeconds()
      << ", \"wrong_checksums\": " << link_->wrongFromCore << ", \"late_arrivals\": " << counters.late_arrivals
      << ", \"clocks\": " << counters.clocks << ", \"frames\": {";
  const char *separator = "";
  for (const auto &[name, way] : {std::pair{"to_core", &link_->toCore}, std::pair{"from_core", &link_->outOfCore}})
    out << std::exchange(separator, ", ") << '"' << name << "\": {\"frames\": " << way->frames
        << ", \"dropped\": " << way->dropped << ", \"reordered\": " << way->reordered
        << ", \"duplicated\": " << way->duplicated << ", \"corrupted\": " << way->corrupted << '}';
  out << "}, \"state\": \"" << (known ? downbeat_sim_state_text(info.state) : "none") << "\", \"counters\": {";
  separator = "";
  const char *name = nullptr;
  std::uint32_t value = 0;
  for (unsigned index = 0; downbeat_sim_core_counter(host_.device(), index, &name, &value) == DOWNBEAT_OK; ++index)
    if (value != 0) out << std::exchange(separator, ", ") << '"' << name << "\": " << value;
  out << "}, \"last_events\": [";
  separator = "";
  if (!failure_.empty())
    for (const auto &event : last_) out << std::exchange(separator, ", ") << '"' << TraceLog::line(event) << '"';
  out << "], \"wall_seconds\": " << wall.count() << "}\n";
}
