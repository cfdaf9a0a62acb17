// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "core_sender.h"

#include <span>

using namespace ns3;

namespace {

double bytesOf(std::uint64_t fixed) { return static_cast<double>(fixed) / 65536; }

/// A whole number, or 0x and up to 32 hexadecimal digits; empty: zero.
void setArgument(std::uint64_t (&argument)[2], const std::string &number) {
  const std::size_t high = number.starts_with("0x") && number.size() > 18 ? number.size() - 16 : 0;
  if (high != 0) argument[1] = std::stoull(number.substr(0, high), nullptr, 16);
  if (!number.empty()) argument[0] = std::stoull(high != 0 ? "0x" + number.substr(high) : number, nullptr, 0);
}

/// The columns of a sample of the delivery rate; without one they are empty.
std::string deliverySample(const downbeat_event &event) {
  std::string columns;
  for (const std::uint64_t value :
       {std::uint64_t{event.app_limited}, std::uint64_t{event.cwnd_limited}, std::uint64_t{event.selective},
        std::uint64_t{event.delivered}, std::uint64_t{event.prior_delivered}, std::uint64_t{event.lost},
        std::uint64_t{event.prior_lost}, std::uint64_t{event.tx_in_flight}, std::uint64_t{event.in_flight},
        event.delivery_interval})
    columns += (event.delivery_valid ? std::to_string(value) : "") + ",";
  columns.pop_back();
  return columns;
}

} // namespace

CoreSender::CoreSender(const Options &options, Dumbbell &path, TextFile &events, Taps *taps)
    : host_(path.routerA(), Create<CoreLink>(options.linkRate, path.linkDelay()),
            {Dumbbell::senderIp, Dumbbell::routerIp}, path.linkDelay()),
      events_(events),
      options_(options) {
  if (taps == nullptr) return;
  host_.listen([taps](CoreHost::Way way, Time sfd, std::span<const std::uint8_t> frame) {
    taps->frame(way == CoreHost::Way::toCore ? Pcapng::Direction::in : Pcapng::Direction::out, sfd, frame);
  });
}

void CoreSender::start(std::vector<std::uint8_t> file) {
  file_ = std::move(file);
  if (const std::string refusal = host_.open(options_.seed, options_.waves); !refusal.empty()) {
    failure_ = refusal;
    return;
  }
  downbeat_sim_set_event_callback(
      host_.device(), [](void *self, const downbeat_event *event) { static_cast<CoreSender *>(self)->record(*event); },
      this);
  downbeat_parameters parameters{};
  parameters.startup = options_.startup.empty() ? nullptr : options_.startup.c_str();
  parameters.steady = options_.steady.empty() ? nullptr : options_.steady.c_str();
  setArgument(parameters.startup_argument, options_.startupArgument);
  setArgument(parameters.steady_argument, options_.steadyArgument);
  parameters.initial_window = options_.initialWindow;
  parameters.ssthresh = static_cast<std::uint32_t>(options_.ssthresh);
  const int result =
      downbeat_sim_connect(host_.device(), Dumbbell::receiverIp, Dumbbell::port, 0, &parameters, &connection_);
  if (result == DOWNBEAT_POLICY_ARGUMENT) {
    failure_ = downbeat_sim_argument_problem(host_.device());
    return;
  }
  if (!check(result, "connect")) return;
  host_.run([this] { application(); });
  host_.pump();
}

void CoreSender::application() {
  if (failure_ || shutDown_) return;
  downbeat_sim_info info;
  if (!check(downbeat_sim_connection_info(host_.device(), connection_, &info), "connection")) return;
  if (info.error != 0 && !check(info.error, "connection")) return;
  while (accepted_ < file_.size()) {
    const std::int64_t count =
        downbeat_sim_send(host_.device(), connection_, file_.data() + accepted_, file_.size() - accepted_);
    if (count == DOWNBEAT_WOULD_BLOCK || !check(count, "send")) return;
    accepted_ += static_cast<std::size_t>(count);
    host_.attentive(false); // the library holds enough from now on
  }
  shutDown_ = check(downbeat_sim_shutdown(host_.device(), connection_), "shutdown");
}

bool CoreSender::check(std::int64_t result, const char *what) {
  if (result >= 0) return true;
  failure_ = std::string(what) + ": " + downbeat_error_text(static_cast<int>(result));
  return false;
}

bool CoreSender::closed() const {
  downbeat_sim_info info;
  if (downbeat_sim_connection_info(host_.device(), connection_, &info) != DOWNBEAT_OK) return true;
  return info.peer_finished && (info.state == DOWNBEAT_TIME_WAIT || info.state == DOWNBEAT_CLOSED);
}

std::uint64_t CoreSender::sent() const {
  downbeat_sim_counters counters{};
  downbeat_sim_get_counters(host_.device(), &counters);
  return counters.frames_out;
}

void CoreSender::record(const downbeat_event &event) {
  if (event.live) last_ = event;
  report_.segments += event.sent && event.sent_length > 0;
  report_.retransmissions += event.sent && event.retransmission;
  if (event.rtt_valid) report_.rttSamples.push_back(static_cast<double>(event.rtt) / 1e6);
  const std::string congestion = downbeat_sim_congestion_text(event.congestion_kind);
  const char *reason = event.retransmission ? "retransmission" : congestion == "none" ? "" : congestion.c_str();
  const char *probe = !event.probe_answered   ? ""
                      : event.probe_begins    ? "begins"
                      : event.probe_disturbed ? "disturbed"
                                              : "whole";
  events_.row(
      "%llu,%u,%s,%s,%.3f,%.3f,%u,%s,%s,%s,%d,%u,%u,%u,%u,%s,%s,%llu,%llu,%u,%u,%u,%u,%u,%d,%d,%d,%d,%s,%llu,%llu,%llu,"
      "%d,%d,%llu,%d,%u,%u,%d,%d,%d,%d,%d,%u,%u,%d,%d,%d,%d,%s\n",
      static_cast<unsigned long long>(event.time), event.flow, downbeat_sim_event_text(event.kind),
      downbeat_sim_state_text(event.state), bytesOf(event.cwnd), bytesOf(event.ssthresh), event.flight,
      event.rtt_valid ? std::to_string(event.rtt).c_str() : "", reason, congestion.c_str(), event.uninflated,
      event.acked, event.segment_size, event.initial_window, event.initial_ssthresh,
      downbeat_sim_startup_text(event.startup), downbeat_sim_steady_text(event.steady),
      static_cast<unsigned long long>(event.cwnd), static_cast<unsigned long long>(event.ssthresh), event.acknowledged,
      event.next_send, event.send_window, event.sent_sequence, event.sent_length, event.retransmission, event.live,
      event.sent_probe, event.sent_ahead, probe, static_cast<unsigned long long>(event.departure_gap),
      static_cast<unsigned long long>(event.arrival_gap), static_cast<unsigned long long>(event.probe_round_trip),
      event.requested, event.estimates, static_cast<unsigned long long>(event.arrival), event.repeated, event.bwe,
      event.ere, event.inline_updated, event.inline_opens, event.inline_forgets, event.inline_completes,
      event.inline_missed, event.capacity, event.available, event.growth_limited, event.rtt_full, event.rtt_first,
      event.recovering, deliverySample(event).c_str());
}

SenderReport CoreSender::report() const {
  SenderReport report = report_;
  report.wallSeconds = host_.wallSeconds();
  downbeat_sim_counters counters{};
  downbeat_sim_get_counters(host_.device(), &counters);
  downbeat_sim_info info{};
  downbeat_sim_connection_info(host_.device(), connection_, &info);
  const auto add = [&](const char *name, const std::string &value) { report.details.emplace_back(name, value); };
  add("flow", std::to_string(info.flow));
  add("state", downbeat_sim_state_text(info.state));
  add("bytes_acknowledged", std::to_string(info.acknowledged));
  add("bytes_unacknowledged", std::to_string(info.unacknowledged));
  add("bytes_accepted", std::to_string(accepted_));
  add("last_event", downbeat_sim_event_text(last_.kind));
  add("last_event_ns", std::to_string(last_.time));
  add("last_event_congestion", downbeat_sim_congestion_text(last_.congestion_kind));
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
  for (unsigned index = 0; downbeat_sim_core_counter(host_.device(), index, &name, &value) == DOWNBEAT_OK; ++index)
    add(name, std::to_string(value));
  return report;
}
