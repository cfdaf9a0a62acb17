// SPDX-License-Identifier: BSD-2-Clause-Patent
// Events of the flow engine: the last ones for a run that fails, and counts.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "downbeat_sim_core.h"

class TraceLog {
public:
  explicit TraceLog(downbeat_device *device) { downbeat_sim_set_event_callback(device, &TraceLog::record, this); }
  TraceLog(const TraceLog &) = delete; // the device knows its address
  TraceLog &operator=(const TraceLog &) = delete;

  std::uint64_t segments = 0, retransmissions = 0; // segments with payload; retransmissions of these, SYN and FIN

  const std::deque<downbeat_event> &last() const { return last_; }
  static std::string line(const downbeat_event &event);

private:
  static constexpr std::size_t kept = 30;
  static void record(void *self, const downbeat_event *event);
  std::deque<downbeat_event> last_;
};
