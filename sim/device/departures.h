// SPDX-License-Identifier: BSD-2-Clause-Patent
// What lies behind the core's wire, whatever the tap: the launch gate, the frames that have left it, stamps on their
// way back.
#pragma once

#include <deque>
#include <optional>

#include "launch_gate.h"

namespace downbeat {

struct Departure {
  std::uint16_t tag;
  Stamp stamp;
};

class Departures {
public:
  explicit Departures(std::uint64_t rate) : gate(rate) {}

  /// Everything that leaves up to `now`.
  void run(Stamp now) {
    while (gate.nextDeparture() <= now) {
      departed.push_back(gate.depart());
      ++frames;
      if (departed.back().tag != 0) stamps_.push_back({departed.back().tag, departed.back().time});
    }
  }
  /// The next stamp that the core is to be told of, each once.
  std::optional<Departure> takeStamp(Stamp now) {
    if (nextStamp() > now) return std::nullopt;
    const Departure departure = stamps_.front();
    stamps_.pop_front();
    return departure;
  }
  Stamp nextStamp() const { return stamps_.empty() ? never : stamps_.front().stamp; }
  /// Forgets what has not departed, and stamps.
  void reset() {
    gate.reset();
    stamps_.clear();
  }

  LaunchGate gate;
  std::deque<Frame> departed;
  std::uint64_t frames = 0; // that have departed

private:
  std::deque<Departure> stamps_;
};

} // namespace downbeat
