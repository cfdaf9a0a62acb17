// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a connection starts with by the device's estimates: at its open, or by a start command once it is accepted.
#include <algorithm>
#include <mutex>

#include "device.h"
#include "failure.h"
#include "policies.h"

namespace downbeat {

namespace {

constexpr std::uint64_t bucketLog2 = 2; // a bucket has 2^2 segments

} // namespace

void Device::askStart(downbeat_connection &connection, std::uint64_t transferBytes, format::Command &command) {
  downbeat_estimate &told = connection.estimate;
  const downbeat_host_start start =
      estimates_->start(reinterpret_cast<std::uintptr_t>(&connection), connection.remoteIp, transferBytes,
                        port_->geometry().mss, port_->time(), told);
  connection.estimated = true;
  if (told.source == 0 || startAsTold(command, start)) return;
  told = {.initial_window = told.initial_window, .reason = "the core's policies cannot start so"};
}

bool Device::startAsTold(format::Command &command, const downbeat_host_start &told) const {
  const bool resumes = told.saved_window != 0;
  const auto startup = policyNumber(PolicyFamily::startup, resumes ? "resume" : "paced", samePolicies_);
  if (resumes) {
    const std::uint32_t mss = port_->geometry().mss;
    const std::uint64_t saved = told.saved_window / mss, maxJump = told.jump / mss;
    if (!startup || saved == 0 || maxJump == 0 || told.saved_rtt == 0) return false;
    command.startup = *startup;
    std::ranges::fill(command.startupArgument, 0);
    put(command.startupArgument, startupField("resume", "saved"), saved);
    put(command.startupArgument, startupField("resume", "maxJump"), maxJump);
    put(command.startupArgument, startupField("resume", "rtt"), told.saved_rtt);
    command.validUntil = told.until;
    return true;
  }
  if (told.ssthresh != 0)
    command.ssthresh = static_cast<std::uint32_t>(std::min<std::uint64_t>(told.ssthresh, highestSsthresh));
  command.validUntil = told.until;
  if (!startup || told.initial_window <= command.initialWindow) return told.ssthresh != 0;
  command.startup = *startup;
  std::ranges::fill(command.startupArgument, 0);
  put(command.startupArgument, startupField("paced", "n"), told.initial_window);
  put(command.startupArgument, startupField("paced", "gap"), told.gap);
  if (told.pace == DOWNBEAT_PACE_BUCKET) put(command.startupArgument, startupField("paced", "burst"), bucketLog2);
  return true;
}

void Device::startAccepted(downbeat_connection &connection, const downbeat_listener &listener) {
  format::Command command = listener.policies;
  askStart(connection, listener.transferBytes, command);
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
