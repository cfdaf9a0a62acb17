// SPDX-License-Identifier: BSD-2-Clause-Patent
// One way of a bad wire, in real time: it loses, holds back, doubles, damages and delays frames, as the seed says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "downbeat_sim_core.h"
#include "lib/path/impairments.h"
#include "options.h"

/// CLOCK_MONOTONIC since its making, in units of the device.
class WallClock {
public:
  WallClock() : start_(nanoseconds()) {}
  downbeat_time now() const { return DOWNBEAT_NANOSECONDS(nanoseconds() - start_); }

private:
  static std::uint64_t nanoseconds();
  std::uint64_t start_;
};

class Way {
public:
  /// The ways of one wire differ by `number`.
  Way(const Options &options, std::uint64_t number)
      : impairments(options.impairment, options.seed, number),
        delay_(DOWNBEAT_NANOSECONDS(static_cast<std::uint64_t>(options.delay * 1e6))) {}

  /// A frame enters at `now`; copies that nothing delays go on at once.
  template <typename Forward> void enter(downbeat_time now, std::span<const std::uint8_t> frame, Forward forward) {
    constexpr std::size_t header = 14;
    const bool ipv4 = frame.size() > header && frame[12] == 8 && frame[13] == 0; // nothing protects an ARP message
    for (const auto &copy : impairments.next()) {
      std::vector<std::uint8_t> bytes(frame.begin(), frame.end());
      if (copy.damaged && ipv4) flip(bytes.data() + header, bytes.size() - header, copy.bit);
      if (copy.held > 0 || delay_ > 0)
        held_.emplace(now + delay_ + static_cast<downbeat_time>(copy.held * static_cast<double>(hold)),
                      std::move(bytes));
      else
        forward(bytes);
    }
  }

  /// The frames that have been delayed long enough go on.
  template <typename Forward> void release(downbeat_time now, Forward forward) {
    for (; next() <= now; held_.erase(held_.begin())) forward(held_.begin()->second);
  }

  /// When the next delayed frame goes on.
  downbeat_time next() const { return held_.empty() ? DOWNBEAT_NEVER : held_.begin()->first; }
  downbeat_time delay() const { return delay_; }

  Impairments impairments;

private:
  /// The longest that a frame is held back to be overtaken.
  static constexpr downbeat_time hold = DOWNBEAT_NANOSECONDS(3'000'000);

  downbeat_time delay_;
  std::multimap<downbeat_time, std::vector<std::uint8_t>> held_; // by the time at which they go on
};

/// Waits until a frame comes on one of the descriptors, or until `until`.
void waitForFrame(std::span<const int> descriptors, downbeat_time now, downbeat_time until);
