// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "path_reports.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

downbeat_estimator_options Estimates::options() {
  downbeat_estimator_options options;
  downbeat_estimator_paper_mode(&options);
  options.prefix_bits = 16; // a router's hosts
  return options;
}

downbeat_address Estimates::address(std::uint32_t ip) {
  downbeat_address address{};
  address.bytes[10] = address.bytes[11] = 0xff;
  for (int byte = 0; byte < 4; ++byte) address.bytes[12 + byte] = static_cast<std::uint8_t>(ip >> (24 - 8 * byte));
  return address;
}

downbeat_host_start Estimates::ask(const std::string &method, double now, std::uint32_t remote, std::uint64_t bytes) {
  downbeat_question question{};
  question.remote = address(remote);
  question.transfer_bytes = bytes;
  question.segment_size = 1460;
  while (question.method < DOWNBEAT_METHODS &&
         method != downbeat_estimator_method_text(static_cast<downbeat_method>(question.method)))
    ++question.method;
  return ask(static_cast<std::uint64_t>(now * 1e9), question);
}

OwnEstimates::OwnEstimates() {
  const downbeat_estimator_options options = Estimates::options();
  const char *problem = nullptr;
  estimator_.reset(downbeat_estimator_create(&options, &problem));
  if (!estimator_) throw std::runtime_error(std::string("estimator: ") + problem);
}

void OwnEstimates::open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote) {
  downbeat_estimator_open(estimator_.get(), now, connection, &remote);
}

void OwnEstimates::report(std::uint64_t now, const downbeat_path_report &report) {
  downbeat_estimator_report(estimator_.get(), now, &report);
}

void OwnEstimates::close(std::uint64_t now, std::uint64_t connection) {
  downbeat_estimator_close(estimator_.get(), now, connection);
}

downbeat_host_start OwnEstimates::ask(std::uint64_t now, const downbeat_question &question) {
  downbeat_host_start start{};
  downbeat_estimator_ask(estimator_.get(), now, &question, &start);
  return start;
}

PathReports::PathReports(Estimates &estimates, std::uint64_t name, std::uint32_t remote) : estimates_(estimates) {
  report_.connection = name;
  report_.remote = Estimates::address(remote);
}

void PathReports::see(const downbeat_event &event, bool recovering) {
  const std::string_view kind = downbeat_congestion_text(event.congestion_kind);
  const std::uint64_t cwnd = recovering ? event.ssthresh : event.cwnd;
  if (!open_) {
    open_ = true;
    report_.awnd = cwnd;
    estimates_.open(event.time, report_.connection, report_.remote);
  } else if (event.acked) {
    ++report_.acks;
    report_.acked_bytes += event.acked;
    // Before cwnd grows for this ACK, as ns-2's newack().
    report_.awnd = downbeat_awnd(report_.awnd, static_cast<std::uint64_t>(report_.cwnd) << 16);
  }
  if (event.rtt_valid) {
    report_.smoothed_rtt = report_.smoothed_rtt ? (7 * report_.smoothed_rtt + event.rtt) / 8 : event.rtt;
    report_.smallest_rtt = report_.smallest_rtt ? std::min(report_.smallest_rtt, event.rtt) : event.rtt;
    report_.smoothed_rtt = std::max(report_.smoothed_rtt, report_.smallest_rtt);
  }
  const std::uint8_t before = report_.phase;
  const bool loss = kind == "loss" || kind == "timeout";
  if (loss) {
    ++report_.losses;
    report_.loss_time = event.time;
    report_.loss_cwnd = report_.cwnd;
    report_.loss_in_avoidance = before == DOWNBEAT_PHASE_AVOIDANCE;
  }
  report_.restarts += kind == "restart";
  report_.segment_size = event.segment_size;
  report_.cwnd = static_cast<std::uint32_t>(cwnd >> 16);
  report_.ssthresh = static_cast<std::uint32_t>(event.ssthresh >> 16);
  report_.phase = recovering              ? DOWNBEAT_PHASE_RECOVERY
                  : cwnd < event.ssthresh ? DOWNBEAT_PHASE_STARTUP
                                          : DOWNBEAT_PHASE_AVOIDANCE;
  report_.time = event.time;
  if (!loss && report_.phase == before && event.time < reported_ + report_.smoothed_rtt) return;
  reported_ = event.time;
  estimates_.report(event.time, report_);
}

void PathReports::close(double now) {
  if (!open_) return;
  const auto time = std::max(static_cast<std::uint64_t>(now * 1e9), report_.time);
  report_.time = time;
  estimates_.report(time, report_);
  estimates_.close(time, report_.connection);
  open_ = false;
}
