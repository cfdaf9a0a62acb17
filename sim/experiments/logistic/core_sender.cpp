// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <optional>
#include <vector>

#include <ns3/simulator.h>

#include "ns3/core_host.h"
#include "ns3/recorder.h"
#include "sender.h"

using namespace ns3;

namespace {

constexpr std::size_t written = 1 << 20; // bytes at a time
constexpr const char *eventsHeader = "time,kind,asked,uninflated,acked,flight,mss,rtt,cwnd,ssthresh";

class CoreSender : public BulkSender {
public:
  CoreSender(const Plan &plan, Dumbbell &path)
      : plan_(plan),
        host_(path.routerA(), Create<CoreLink>(plan.path.linkRate, path.linkDelay()),
              {Dumbbell::senderIp, Dumbbell::routerIp}, path.linkDelay()),
        filler_(written),
        most_(2 * plan.path.bufferBytes() + 4 * written) {
    if (plan.events.empty()) return;
    events_.emplace(plan.events, eventsHeader);
    if (!*events_) failure_ = plan.events + ": cannot be written";
  }

  void start() override {
    if (!failure_.empty()) return;
    if (failure_ = host_.open(plan_.path.seed, ""); !failure_.empty()) return;
    downbeat_set_event_callback(
        host_.device(), [](void *self, const downbeat_event *event) { static_cast<CoreSender *>(self)->see(*event); },
        this);
    const downbeat_parameters parameters = told(plan_.steps.front());
    if (!check(downbeat_connect(host_.device(), Dumbbell::receiverIp, Dumbbell::port, 0, &parameters, &connection_),
               "connect"))
      return;
    host_.run([this] { application(); });
    host_.pump();
  }

  void tell(const Step &step) override {
    const downbeat_parameters parameters = told(step);
    if (!check(downbeat_set_policies(host_.device(), connection_, &parameters), "policies")) return Simulator::Stop();
    host_.pump();
  }

private:
  downbeat_parameters told(const Step &step) const {
    downbeat_parameters parameters{};
    parameters.steady = plan_.steady.c_str();
    parameters.initial_window = plan_.path.initialWindow;
    parameters.ssthresh = static_cast<std::uint32_t>(plan_.path.ssthresh);
    parameters.steady_argument[0] = step.argumentLow;
    parameters.steady_argument[1] = step.argumentHigh;
    return parameters;
  }

  /// Keeps more at hand than the path and its buffer hold.
  void application() {
    downbeat_info info;
    if (!check(downbeat_connection_info(host_.device(), connection_, &info), "connection") ||
        !check(info.error, "connection"))
      return Simulator::Stop();
    if (info.state != DOWNBEAT_ESTABLISHED) return;
    while (info.unacknowledged < most_) {
      const std::int64_t count = downbeat_send(host_.device(), connection_, filler_.data(), filler_.size());
      if (!check(count, "send") || count <= 0) break;
      info.unacknowledged += static_cast<std::uint64_t>(count);
    }
    host_.attentive(false);
  }

  void see(const downbeat_event &event) {
    if (!event.live) return;
    if (established_ == 0 && event.state == DOWNBEAT_ESTABLISHED) established_ = static_cast<std::int64_t>(event.time);
    cwnd_ = static_cast<double>(event.cwnd) / 65536;
    if (event.rtt_valid) smallestRtt_ = std::min(smallestRtt_, event.rtt);
    segments_ += event.sent && event.sent_length > 0;
    retransmissions_ += event.sent && event.retransmission;
    calculations_ += event.asked;
    if (!events_) return;
    events_->row("%llu,%s,%d,%d,%u,%u,%u,%s,%llu,%llu\n", static_cast<unsigned long long>(event.time),
                 downbeat_congestion_text(event.congestion_kind), event.asked, event.uninflated, event.acked,
                 event.flight, event.segment_size, event.rtt_valid ? std::to_string(event.rtt).c_str() : "",
                 static_cast<unsigned long long>(event.cwnd), static_cast<unsigned long long>(event.ssthresh));
  }

  bool check(std::int64_t result, const char *what) {
    if (result >= 0 || result == DOWNBEAT_WOULD_BLOCK) return true;
    failure_ = std::string(what) + ": " + downbeat_error_text(static_cast<int>(result));
    return false;
  }

  Plan plan_;
  CoreHost host_;
  std::vector<std::uint8_t> filler_;
  std::uint64_t most_;
  std::optional<TextFile> events_;
  downbeat_connection connection_{};
};

} // namespace

std::unique_ptr<BulkSender> coreSender(const Plan &plan, Dumbbell &path) {
  return std::make_unique<CoreSender>(plan, path);
}
