// SPDX-License-Identifier: BSD-2-Clause-Patent
// Start of a connection by the device's estimates: at its open, or by a start command once it is accepted.
#include <algorithm>
#include <mutex>

#include "core/host_start.h"
#include "device.h"
#include "failure.h"
#include "policies.h"

namespace downbeat {

void Device::requestStart(downbeat_connection &connection, std::uint64_t transferBytes, format::Command &command) {
  downbeat_estimate &estimate = connection.estimate;
  const downbeat_host_start start =
      estimates_->start(reinterpret_cast<std::uintptr_t>(&connection), connection.remoteIp, transferBytes,
                        port_->geometry().mss, port_->time(), estimate);
  connection.estimated = true;
  if (estimate.source == 0 || applyEstimate(command, start)) return;
  estimate = {.initial_window = estimate.initial_window, .reason = "the core's policies cannot start so"};
}

bool Device::applyEstimate(format::Command &command, const downbeat_host_start &start) const {
  downbeat_parameters parameters{.ssthresh = command.ssthresh};
  if (!applyStart(parameters, start, port_->geometry().mss)) return false;
  if (parameters.startup != nullptr) {
    const auto startup = policyNumber(PolicyFamily::startup, parameters.startup, samePolicies_);
    if (!startup) return false;
    command.startup = *startup;
    std::ranges::copy(parameters.startup_argument, command.startupArgument);
  }
  setStart(command, parameters);
  return true;
}

void Device::startAccepted(downbeat_connection &connection, const downbeat_listener &listener) {
  format::Command command = listener.policies;
  requestStart(connection, listener.transferBytes, command);
  port_->started(connection.reference(), connection.estimate.source);
  if (connection.estimate.source == 0) return;
  format::Command start;
  start.opcode = format::Opcode::start;
  start.flow = static_cast<std::uint16_t>(connection.flow);
  start.generation = static_cast<std::uint8_t>(connection.generation);
  const std::lock_guard lock(connection.mutex);
  start.startup = connection.startup = command.startup;
  start.steady = connection.steady = command.steady;
  std::ranges::copy(command.startupArgument, start.startupArgument);
  std::ranges::copy(command.steadyArgument, start.steadyArgument);
  start.ssthresh = command.ssthresh;
  start.startWindow = command.startWindow;
  start.pace = command.pace;
  start.paceGap = command.paceGap;
  start.validUntil = command.validUntil;
  start.roundTrip = command.roundTrip;
  start.request = newRequest({.starts = &connection});
  this->command(start);
}

int Device::estimate(const downbeat_connection &connection, downbeat_estimate &estimate) const {
  const std::lock_guard lock(tables_);
  if (!connection.estimated) return failed(DOWNBEAT_NOT_SUPPORTED);
  estimate = connection.estimate;
  return DOWNBEAT_OK;
}

} // namespace downbeat
