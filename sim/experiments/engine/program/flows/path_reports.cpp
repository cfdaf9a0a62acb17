// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "path_reports.h"

#include <algorithm>
#include <stdexcept>

downbeat_estimator_options Estimates::options(const EstimatorPlan &plan) {
  downbeat_estimator_options options;
  downbeat_estimator_paper_mode(&options);
  options.prefix_bits = 16; // a router's hosts
  options.miss_weight = plan.missWeight;
  options.spand_lower_bound = plan.spandLowerBound;
  return options;
}

downbeat_address Estimates::address(std::uint32_t ip) {
  downbeat_address address{};
  address.bytes[10] = address.bytes[11] = 0xff;
  for (int byte = 0; byte < 4; ++byte) address.bytes[12 + byte] = static_cast<std::uint8_t>(ip >> (24 - 8 * byte));
  return address;
}

downbeat_host_start Estimates::request(const std::string &method, double now, std::uint32_t remote,
                                       std::uint64_t bytes) {
  downbeat_start_request request{};
  request.remote = address(remote);
  request.transfer_bytes = bytes;
  request.segment_size = 1460;
  while (request.method < DOWNBEAT_METHODS &&
         method != downbeat_estimator_method_text(static_cast<downbeat_method>(request.method)))
    ++request.method;
  return this->request(static_cast<std::uint64_t>(now * 1e9), request);
}

OwnEstimates::OwnEstimates(const EstimatorPlan &plan) {
  const downbeat_estimator_options options = Estimates::options(plan);
  const char *problem = nullptr;
  estimator_.reset(downbeat_estimator_create(&options, &problem));
  if (!estimator_) throw std::runtime_error(std::string("estimator: ") + problem);
}

void OwnEstimates::open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote) {
  downbeat_estimator_open(estimator_.get(), now, connection, &remote);
}

void OwnEstimates::report(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote,
                          const downbeat_path_report &report) {
  downbeat_estimator_report(estimator_.get(), now, connection, &remote, &report);
}

void OwnEstimates::close(std::uint64_t now, std::uint64_t connection) {
  downbeat_estimator_close(estimator_.get(), now, connection);
}

downbeat_host_start OwnEstimates::request(std::uint64_t now, const downbeat_start_request &request) {
  downbeat_host_start start{};
  downbeat_estimator_request(estimator_.get(), now, &request, &start);
  return start;
}

PathReports::PathReports(Estimates &estimates, std::uint64_t name, std::uint32_t remote)
    : estimates_(estimates), name_(name), remote_(Estimates::address(remote)) {}

void PathReports::see(const downbeat_path_report &report) {
  if (!open_) estimates_.open(report.time, name_, remote_);
  open_ = true;
  estimates_.report(report.time, name_, remote_, counts_.take(report, report.time));
  if (report.closed == 0) return;
  estimates_.close(report.time, name_);
  open_ = false;
}

void PathReports::close(double now) {
  if (!open_) return;
  downbeat_path_report &last = counts_.last();
  last.time = std::max(static_cast<std::uint64_t>(now * 1e9), last.time);
  estimates_.report(last.time, name_, remote_, last);
  estimates_.close(last.time, name_);
  open_ = false;
}
