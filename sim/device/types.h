// SPDX-License-Identifier: BSD-2-Clause-Patent
// Times, frames and byte queues of the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "downbeat_layout.h"

namespace downbeat {

/// 2^-16 ns, as the core's `now`, stamps and launch times.
using Stamp = std::uint64_t;
inline constexpr Stamp never = UINT64_MAX;
inline constexpr Stamp clockPeriod = Stamp{8} << 16;

inline Stamp nextClock(Stamp time) { return (time + clockPeriod - 1) / clockPeriod * clockPeriod; }

inline constexpr std::size_t largestFrame = DOWNBEAT_MAXIMUM_FRAME_BYTES - 4;
inline constexpr std::size_t smallestFrame = 60;
inline constexpr std::size_t beatBytes = 8;

/// A frame without preamble and FCS. Room for a whole last beat.
struct Frame {
  Frame() {} // the bytes stay as they are: filled beat by beat
  Stamp time = 0;
  std::uint32_t length = 0;
  std::uint16_t tag = 0;
  alignas(8) std::uint8_t bytes[(largestFrame + 2 * beatBytes) / beatBytes * beatBytes];
};

/// Bytes of a stream, in at the back and out at the front.
class ByteQueue {
public:
  std::size_t size() const { return bytes_.size() - head_; }
  const std::uint8_t *front() const { return bytes_.data() + head_; }

  void append(const std::uint8_t *data, std::size_t length) { bytes_.insert(bytes_.end(), data, data + length); }

  void drop(std::size_t length) {
    head_ += length;
    if (head_ == bytes_.size()) {
      bytes_.clear();
      head_ = 0;
    } else if (head_ >= compactAt) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  /// Keeps the first `length` bytes.
  void cut(std::size_t length) { bytes_.resize(head_ + length); }

private:
  static constexpr std::size_t compactAt = 1 << 20;
  std::vector<std::uint8_t> bytes_;
  std::size_t head_ = 0;
};

/// The byte mask of a beat that holds `count` bytes, 1 to 8.
inline std::uint8_t keepOf(std::size_t count) { return static_cast<std::uint8_t>(0xff >> (beatBytes - count)); }

} // namespace downbeat
