/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// SPAND's reports of one prefix: five minutes in sums of ten seconds, so a report's age is known to ten seconds
/// [Zhang, Qiu, Keshav 2000, 5].
#pragma once

#include <array>
#include <cstdint>

namespace downbeat::estimator {

/// One or more reports together.
struct SpandSums {
  uint32_t tick = 0; // which ten seconds
  uint32_t reports = 0;
  uint64_t windows = 0;     // segments, 8 fraction bits
  uint64_t roundTrips = 0; // ns
  uint64_t segments = 0;    // acknowledged
  uint64_t acks = 0;
};

class SpandReports {
public:
  static constexpr uint32_t keptTicks = 30;
  static constexpr uint64_t tickLength = 10'000'000'000; // ns
  static constexpr uint32_t maxReports = 1 << 22;        // reports in a tick, so that no sum overflows

  static uint32_t tick(uint64_t now) { return static_cast<uint32_t>(now / tickLength); }

  /// Sums of a tick that is not behind its place's newer one.
  void add(const SpandSums &sums);
  /// Those of the last five minutes.
  SpandSums all(uint64_t now) const;
  const std::array<SpandSums, keptTicks> &ticks() const { return ticks_; }

private:
  std::array<SpandSums, keptTicks> ticks_{};
};

} // namespace downbeat::estimator
