// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "crowd.h"

#include <ns3/simulator.h>

using namespace ns3;

namespace {
constexpr std::size_t written = 65'536; // bytes at a time: as much as the core's buffer of a flow holds
constexpr double timeLimit = 60;         // virtual seconds for all flows to open
} // namespace

Crowd::Crowd(const Plan &plan)
    : plan_(plan),
      paths_(plan.flows, plan.rate, pathDelay(), plan.buffer,
             [this](std::size_t host, std::uint64_t bytes) { received_[host] += counting_ ? bytes : 0; }),
      host_(paths_.router(), Create<CoreLink>(plan.linkRate, linkDelay()), {EqualPaths::coreIp, EqualPaths::routerIp},
            linkDelay()),
      filler_(written),
      connections_(plan.flows),
      received_(plan.flows) {
  failure_ = host_.open(plan.seed, "");
  if (!failure_.empty()) return;
  downbeat_set_event_callback(
      host_.device(),
      [](void *self, const downbeat_event *event) {
        static_cast<Crowd *>(self)->segments_ += event->sent && event->sent_length > 0;
        static_cast<Crowd *>(self)->retransmissions_ += event->sent && event->retransmission;
      },
      this);
  for (std::size_t flow = 0; flow < connections_.size() && failure_.empty(); ++flow)
    check(downbeat_connect(host_.device(), paths_.ip(flow), EqualPaths::port, 0, nullptr, &connections_[flow]),
          "connect");
  host_.run([this] { application(); });
}

void Crowd::run() {
  if (!failure_.empty()) return;
  host_.pump();
  while (failure_.empty() && established_ < connections_.size() && Simulator::Now().GetSeconds() < timeLimit) {
    Simulator::Stop(MilliSeconds(10));
    Simulator::Run();
  }
  if (failure_.empty() && established_ < connections_.size())
    failure_ = std::to_string(connections_.size() - established_) + " flows did not open";
  if (!failure_.empty()) return;
  Simulator::Stop(Seconds(plan_.warmUp));
  Simulator::Run();
  counting_ = true;
  Simulator::Stop(Seconds(plan_.duration));
  Simulator::Run();
}

void Crowd::application() {
  established_ = 0;
  for (const downbeat_connection connection : connections_) {
    downbeat_info info;
    if (!check(downbeat_connection_info(host_.device(), connection, &info), "connection") ||
        !check(info.error, "connection"))
      return Simulator::Stop();
    if (info.state != DOWNBEAT_ESTABLISHED) continue;
    ++established_;
    if (info.unacknowledged < 2 * written)
      check(downbeat_send(host_.device(), connection, filler_.data(), filler_.size()), "send");
  }
  host_.attentive(established_ < connections_.size());
}

bool Crowd::check(std::int64_t result, const char *what) {
  if (result >= 0 || result == DOWNBEAT_WOULD_BLOCK) return true;
  failure_ = std::string(what) + ": " + downbeat_error_text(static_cast<int>(result));
  return false;
}
