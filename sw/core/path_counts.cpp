// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "path_counts.h"

#include <algorithm>

#include "downbeat_parameters.h"

namespace downbeat {

namespace {

/// `total` with what a counter of so many bits has counted since.
std::uint64_t extended(std::uint64_t total, std::uint64_t counter, unsigned bits) {
  return total + ((counter - total) & ((std::uint64_t{1} << bits) - 1));
}

} // namespace

const downbeat_path_report &PathCounts::take(const downbeat_path_report &report, std::uint64_t now) {
  if (!begun_) first_ = now;
  begun_ = true;
  const std::uint64_t acked = extended(last_.acked, report.acked, ackedBits);
  const std::uint64_t acks = extended(last_.acks, report.acks, acksBits);
  const std::uint64_t age = (report.time - report.loss_time) & coreTimeMask;
  last_ = report;
  last_.time = now;
  last_.acked = acked;
  last_.acks = acks;
  last_.loss_time = now - std::min(age, now - first_);
  return last_;
}

} // namespace downbeat
