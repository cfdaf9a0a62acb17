// SPDX-License-Identifier: BSD-2-Clause-Patent
// Times, frames and addresses of the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

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

/// A frame without preamble and FCS. Space for a whole last beat.
struct Frame {
  Frame() {} // the bytes stay as they are: filled beat by beat
  Stamp time = 0;
  std::uint32_t length = 0;
  std::uint16_t tag = 0;
  alignas(8) std::uint8_t bytes[(largestFrame + 2 * beatBytes) / beatBytes * beatBytes];
};

/// A device's own: run-time values of the core.
struct Addresses {
  std::uint64_t mac; // first byte of the wire in bits 47 to 40
  std::uint32_t ip, netmask, gateway;
};

/// The byte mask of a beat that holds `count` bytes, 1 to 8.
inline std::uint8_t keepOf(std::size_t count) { return static_cast<std::uint8_t>(0xff >> (beatBytes - count)); }

} // namespace downbeat
