// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <string_view>

#include "core.h"
#include "core/host_start.h"

using namespace ns3;

namespace {
const std::vector<std::uint8_t> filler(65'536);
constexpr std::uint32_t segmentBytes = 1460; // that the estimator is chosen for
} // namespace

CoreFlow::CoreFlow(const FlowPlan &plan, const Marks &marks, Core &core, std::uint32_t remote, std::uint16_t port,
                   std::uint64_t name)
    : Flow(plan, marks), core_(core), remote_(remote), port_(port), name_(name) {
  if (core.estimates() != nullptr && plan.observed)
    reports_ = std::make_unique<PathReports>(*core.estimates(), name, remote);
}

void CoreFlow::expect() {
  if (core_.estimates() != nullptr) core_.estimates()->expect(remote_);
}

void CoreFlow::start() {
  core_.pump();
  const downbeat_parameters given = parameters();
  if (!accepted(downbeat_sim_connect(core_.device(), remote_, port_, 0, &given, &connection_), "connect")) return;
  record.opened(core_.now());
  core_.add(*this);
  core_.pump();
}

downbeat_parameters CoreFlow::parameters() {
  const FlowPlan &plan = record.plan();
  downbeat_parameters chosen{};
  chosen.startup = plan.startup.c_str();
  chosen.steady = plan.steady.c_str();
  chosen.initial_window = plan.initialWindow;
  chosen.ssthresh = plan.ssthresh;
  chosen.nssr = plan.nssr;
  chosen.reno_recovery = plan.renoRecovery;
  chosen.no_tail_loss_probe = chosen.no_rack = chosen.no_undo = chosen.no_prr = chosen.no_growth_limit =
      !plan.rackRecovery;
  for (int word = 0; word < 2; ++word) {
    chosen.startup_argument[word] = plan.startupArgument[word];
    chosen.steady_argument[word] = plan.steadyArgument[word];
  }
  if (core_.estimates() == nullptr || plan.estimate.empty()) return chosen;
  const std::uint64_t size = plan.writes.empty() ? 0 : plan.writes.front().bytes;
  const downbeat_host_start start = core_.estimates()->request(plan.estimate, core_.now(), remote_, size);
  record.startReason = start.reason;
  record.startJump = static_cast<double>(start.jump) / record.segmentSize;
  if (!start.known) return chosen;
  record.startWindow = start.initial_window;
  record.startSsthresh = static_cast<double>(start.ssthresh) / record.segmentSize;
  downbeat::applyStart(chosen, start, segmentBytes);
  return chosen;
}

void CoreFlow::fill() {
  if (over_ || !record.isEstablished()) return;
  const FlowPlan &plan = record.plan();
  // Each frame of data that the core is handed is an event: no more than two windows and 128 KiB.
  const auto windows = static_cast<std::uint64_t>(2 * record.windowNow() * record.segmentSize) + 2 * filler.size();
  const std::uint64_t limit = plan.writes.empty() ? record.total() + std::min(plan.ahead, windows) : wanted_;
  while (given_ < limit) {
    const std::uint64_t length = std::min<std::uint64_t>(limit - given_, filler.size());
    const std::int64_t count = downbeat_sim_send(core_.device(), connection_, filler.data(), length);
    if (!accepted(count, "send") || count <= 0) return;
    given_ += static_cast<std::uint64_t>(count);
  }
  if (!plan.finish || shutDown_ || plan.writes.empty() || writesBegun_ < plan.writes.size()) return;
  shutDown_ = accepted(downbeat_sim_shutdown(core_.device(), connection_), "shutdown");
}

void CoreFlow::write(std::uint64_t bytes) {
  ++writesBegun_;
  wanted_ += bytes;
  core_.pump();
  record.wrote(core_.now());
  fill();
  core_.pump();
}

void CoreFlow::stop() {
  if (over_ || connection_ < 0) return;
  over_ = true;
  core_.pump();
  record.over(core_.now());
  if (reports_) reports_->close(core_.now());
  core_.forget(*this);
  downbeat_sim_abort(core_.device(), connection_);
  core_.pump();
}

void CoreFlow::changeArgument(const ArgumentPlan &change) {
  core_.pump();
  downbeat_parameters changed = parameters();
  changed.steady_argument[0] = change.argument[0];
  changed.steady_argument[1] = change.argument[1];
  accepted(downbeat_sim_set_policies(core_.device(), connection_, &changed), "policies");
  core_.pump();
}

void CoreFlow::check() {
  downbeat_sim_info info;
  if (over_ || connection_ < 0 || downbeat_sim_connection_info(core_.device(), connection_, &info) != DOWNBEAT_OK)
    return;
  accepted(info.error, "connection");
}

void CoreFlow::reported(const downbeat_path_report &report) {
  if (reports_) reports_->see(report);
}

bool CoreFlow::accepted(std::int64_t result, const char *what) {
  if (result >= 0 || result == DOWNBEAT_WOULD_BLOCK) return true;
  if (record.failure.empty()) {
    record.failure = std::string(what) + ": " + downbeat_error_text(static_cast<int>(result));
    if (result == DOWNBEAT_POLICY_ARGUMENT)
      record.failure += std::string(": ") + downbeat_sim_argument_problem(core_.device());
  }
  return false;
}

void CoreFlow::see(const downbeat_event &event) {
  const double now = static_cast<double>(event.time) / 1e9;
  const std::string_view kind = downbeat_sim_congestion_text(event.congestion_kind);
  if (!record.isEstablished()) {
    if (kind != "established") return;
    record.established(now);
    record.segmentSize = event.segment_size;
    firstByte_ = event.acknowledged;
    firstSsthresh_ = static_cast<double>(event.ssthresh) / 65536 / event.segment_size;
  }
  const bool timeout = kind == "timeout", loss = kind == "loss";
  if (event.acked) record.progress(now, event.acked);
  if (event.acked || event.repeated) record.acknowledged(now);
  if (event.sent && event.sent_length > 0) record.sent(now, event.sent_sequence - firstByte_, event.sent_length);
  if (event.probe_answered && !event.probe_begins && !event.probe_disturbed)
    record.gap(static_cast<double>(event.departure_gap) / 1e9, static_cast<double>(event.arrival_gap) / 1e9);
  recovering_ = loss || (recovering_ && kind != "recovered" && !timeout);
  // cwnd is inflated in recovery, which ns-2 and ns-3 keep apart from it.
  const double ssthresh = static_cast<double>(event.ssthresh) / 65536 / event.segment_size;
  const double cwnd = recovering_ ? ssthresh : static_cast<double>(event.cwnd) / 65536 / event.segment_size;
  if (event.rtt_valid) record.sample(static_cast<double>(event.rtt) / 1e9);
  record.segments += event.sent && event.sent_length > 0;
  record.retransmissions += event.sent && event.retransmission;
  if (loss || timeout) record.loss(now, event.flight, timeout);
  // SPM makes its estimate when slow start has ended.
  if (!record.hasLost() && ssthresh != firstSsthresh_) record.estimated(ssthresh);
  if (!record.hasLeftStartup()) {
    if (loss || timeout) {
      record.exit(now, timeout ? "timeout" : "loss", lastWindow_, cwnd);
    } else {
      if (cwnd >= ssthresh) record.exit(now, "policy", lastWindow_, cwnd);
    }
  }
  if (downbeat_sim_event_text(event.kind) == std::string_view("estimated"))
    record.rates(now, event.bwe / record.segmentSize, event.ere / record.segmentSize, cwnd);
  record.ssthresh = ssthresh;
  lastWindow_ = cwnd;
  record.window(now, cwnd);
  if (event.capacity) record.measured(now, event.capacity, event.available);
}
