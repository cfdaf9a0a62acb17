// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "host_start.h"

#include <algorithm>

#include "argument_field.h"
#include "parameters.h"

namespace downbeat {

namespace {

bool resume(downbeat_parameters &parameters, const downbeat_host_start &start, std::uint32_t segmentSize) {
  const std::uint64_t saved = start.saved_window / segmentSize, maxJump = start.jump / segmentSize;
  if (saved == 0 || maxJump == 0 || start.saved_rtt == 0) return false;
  parameters.startup = "resume";
  std::ranges::fill(parameters.startup_argument, 0);
  put(parameters.startup_argument, startupField("resume", "saved"), saved);
  put(parameters.startup_argument, startupField("resume", "maxJump"), maxJump);
  put(parameters.startup_argument, startupField("resume", "rtt"), start.saved_rtt);
  return true;
}

/// The core computes the window when the flight starts (Yu, thesis, p. 27).
void miss(downbeat_parameters &parameters, const downbeat_host_start &start) {
  parameters.startup = "miss";
  std::ranges::fill(parameters.startup_argument, 0);
  putBits(parameters.startup_argument, startupField("miss", "m"), start.miss_rate);
  put(parameters.startup_argument, startupField("miss", "next"), start.miss_next & maxStartUntil);
  put(parameters.startup_argument, startupField("miss", "maxWindow"), start.miss_cap);
}

} // namespace

bool applyStart(downbeat_parameters &parameters, const downbeat_host_start &start, std::uint32_t segmentSize) {
  if (start.known == 0) return false;
  if (start.saved_window != 0 && !resume(parameters, start, segmentSize)) return false;
  if (start.miss_rate != 0) miss(parameters, start);
  if (start.ssthresh != 0)
    parameters.ssthresh = static_cast<std::uint32_t>(std::min<std::uint64_t>(start.ssthresh, maxSsthresh));
  parameters.start = {};
  parameters.start.until = start.until & maxStartUntil;
  parameters.start.round_trip = std::min<std::uint64_t>(start.round_trip, maxStartRoundTrip);
  if (start.pace == DOWNBEAT_PACE_NONE) return true;
  parameters.start.window = static_cast<std::uint32_t>(std::min<std::uint64_t>(start.initial_window, maxStartWindow));
  parameters.start.pace = start.pace;
  parameters.start.gap = std::min(start.gap, maxStartGap >> 16) << 16; // ns with 16 fraction bits
  return true;
}

} // namespace downbeat
