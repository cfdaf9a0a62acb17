// SPDX-License-Identifier: BSD-2-Clause-Patent
// Parts behind the core's wire that all taps have: the launch gate, the frames that have left it, stamps on their
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
      Frame &frame = departed.emplace_back(gate.depart());
      ++frames;
      if (frame.tag != 0) stamps_.push_back({frame.tag, frame.time});
      frame.time += base;
    }
  }
  /// The next stamp for the core, each once.
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

  /// Takes `by`, whole seconds, off the times of what waits.
  void rebase(Stamp by) {
    base += by;
    gate.rebase(by);
    for (Departure &each : stamps_) each.stamp -= by;
  }

  Stamp base = 0; // the core's time at 0 of the times here; a frame that has departed has the core's
  LaunchGate gate;
  std::deque<Frame> departed;
  std::uint64_t frames = 0; // that have departed

private:
  std::deque<Departure> stamps_;
};

} // namespace downbeat
