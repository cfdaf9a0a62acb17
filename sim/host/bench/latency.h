// SPDX-License-Identifier: BSD-2-Clause-Patent
// Clocks of the core between a program and the wire.
#pragma once

#include "machine.h"

namespace downbeat::bench {

struct Latency {
  double doorbellToSfd = 0; // from the write of writtenFlow's register to the first byte of the segment's frame
  double lastByteToNotification = 0; // from the last byte of a segment's FCS to its notification in memory
};

/// Latencies of segments of so many bytes on an idle connection of port 0 with port 1; the clock's period is a step.
Latency latencyOf(Machine &machine, const format::Notification &from, const format::Notification &to,
                  std::uint32_t bytes, std::uint64_t linkRate);

} // namespace downbeat::bench
