// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "flow.h"

#include <algorithm>
#include <string_view>

#include <ns3/simulator.h>

using namespace ns3;

namespace {
constexpr std::size_t written = 65'536; // bytes at a time
/// ns-2 begins with the window that its sender may use at most, 20 packets unless told; what the thesis told it is not
/// known. Without one slow start overshoots the queue by thirty packets, and what is in flight at the timeout that
/// follows sets the next slow start's end as high.
constexpr std::uint32_t ssthresh = 20 * 1460;
} // namespace

Flow::Flow(Ptr<Node> router, const Path &path, const std::string &policy, std::uint64_t argument, std::uint64_t seed)
    : steady(policy),
      path_(path),
      host_(router, Create<CoreLink>(path.linkRate, path.linkDelay), path.addresses, path.linkDelay),
      argument_(argument),
      filler_(written) {
  failure = host_.open(seed, "");
  if (!failure.empty()) return;
  downbeat_set_event_callback(
      host_.device(), [](void *self, const downbeat_event *event) { static_cast<Flow *>(self)->see(*event); }, this);
}

void Flow::begin() {
  host_.pump(); // the core's time has stood still so far
  downbeat_parameters parameters{};
  parameters.steady = steady.c_str();
  parameters.steady_argument[0] = argument_;
  parameters.initial_window = 1;
  parameters.ssthresh = ssthresh;
  const int result = downbeat_connect(host_.device(), path_.receiverIp, path_.port, 0, &parameters, &connection_);
  if (result != DOWNBEAT_OK) failure = std::string("connect: ") + downbeat_error_text(result);
  since_ = Simulator::Now().GetSeconds();
  host_.run([this] { application(); });
  host_.pump();
}

void Flow::application() {
  downbeat_info info;
  if (downbeat_connection_info(host_.device(), connection_, &info) != DOWNBEAT_OK || info.error != 0) {
    if (failure.empty()) failure = std::string("connection: ") + downbeat_error_text(info.error);
    return;
  }
  if (info.state != DOWNBEAT_ESTABLISHED) return;
  host_.attentive(false);
  if (info.unacknowledged < 2 * written) downbeat_send(host_.device(), connection_, filler_.data(), filler_.size());
}

void Flow::see(const downbeat_event &event) {
  if (!event.live || !counting_) return;
  account(static_cast<double>(event.time) / 1e9);
  const std::string_view kind = downbeat_congestion_text(event.congestion_kind);
  const bool timeout = kind == "timeout";
  recovering_ = kind == "loss" || (recovering_ && kind != "recovered" && !timeout);
  // ns-2 keeps what duplicate ACKs add to the window in a variable of its own, which the thesis's means do not see.
  const std::uint64_t window = recovering_ ? event.ssthresh : event.cwnd;
  if (event.segment_size != 0) window_ = static_cast<double>(window) / 65536 / event.segment_size;
  segments += event.sent && event.sent_length > 0;
  retransmissions += event.sent && event.retransmission;
  acknowledged += event.acked;
  sinceLoss_ += event.acked;
  toCover_ -= std::min<std::uint64_t>(toCover_, event.acked);
  if (event.rtt_valid) rttSum_ += static_cast<double>(event.rtt), ++rtts_;
  timeouts += timeout;
  if (kind != "loss" && !(timeout && toCover_ == 0)) return;
  if (seen_) intervals.push_back(static_cast<double>(sinceLoss_) / event.segment_size);
  seen_ = true;
  sinceLoss_ = 0;
  toCover_ = event.flight;
}

void Flow::account(double now) {
  if (now <= since_) return;
  windowSeconds_ += window_ * (now - since_);
  seconds_ += now - since_;
  since_ = now;
}

void Flow::end() {
  account(Simulator::Now().GetSeconds());
  counting_ = false;
}
