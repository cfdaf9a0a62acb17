// SPDX-License-Identifier: BSD-2-Clause-Patent
// How long bytes take that the header tap does not have: at the 64-bit tap they pass streams of beats, one beat a
// clock.
#pragma once

#include <bit>

#include "device/core/types.h"

namespace downbeat {

/// Bytes of a buffer that a burst stays within (rtl/downbeat/memory/BurstSplitter.scala).
inline constexpr std::size_t page = 2048;

/// A stream 64 bits wide, or as wide as the link needs it to be.
class BeatStream {
public:
  explicit BeatStream(std::uint64_t linkRate)
      : width_(beatBytes * std::bit_ceil((linkRate + bitsPerSecond - 1) / bitsPerSecond)) {}
  /// When what wants in at `ready` has passed.
  Stamp pass(Stamp ready, std::size_t bytes) {
    free_ = std::max(free_, ready) + (bytes + width_ - 1) / width_ * clockPeriod;
    return free_;
  }
  void reset() { free_ = 0; }
  Stamp free() const { return free_; }

private:
  static constexpr std::uint64_t bitsPerSecond = 8'000'000'000; // 64 bits each clock
  std::size_t width_;                                           // bytes
  Stamp free_ = 0;
};

} // namespace downbeat
