// SPDX-License-Identifier: BSD-2-Clause-Patent
// Times, frames and addresses of the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "downbeat_layout.h"

namespace downbeat {

/// 2^-16 ns, as the core's `now`, stamps and launch times.
using Stamp = std::uint64_t;
inline constexpr Stamp never = UINT64_MAX;
inline constexpr Stamp clockPeriod = Stamp{8} << 16;

inline Stamp nextClock(Stamp time) { return (time + clockPeriod - 1) / clockPeriod * clockPeriod; }

inline constexpr std::size_t largestFrame = DOWNBEAT_MAXIMUM_FRAME_BYTES - 4;
inline constexpr std::size_t smallestFrame = 60;
inline constexpr std::size_t beatBytes = DOWNBEAT_BEAT_BYTES;

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

/// The byte mask of a beat: as wide as Verilator keeps the pins.
using Keep = std::conditional_t<beatBytes == 8, std::uint8_t,
                                std::conditional_t<beatBytes == 16, std::uint16_t,
                                                   std::conditional_t<beatBytes == 32, std::uint32_t, std::uint64_t>>>;

/// That of a beat that holds `count` bytes, 1 to `beatBytes`.
inline Keep keepOf(std::size_t count) { return static_cast<Keep>(std::uint64_t(-1) >> (64 - count)); }

/// The bytes of a beat on pins: a word of up to 64 bits or an array of 32 each, first byte lowest.
template <class Data> auto beatOf(Data &pins) {
  static_assert(sizeof(Data) == beatBytes);
  if constexpr (std::is_integral_v<Data>)
    return &pins;
  else
    return &pins[0];
}
template <class Data> void setBeat(Data &pins, const std::uint8_t *bytes) {
  std::memcpy(beatOf(pins), bytes, beatBytes);
}
template <class Data> void getBeat(std::uint8_t *bytes, const Data &pins) {
  std::memcpy(bytes, beatOf(pins), beatBytes);
}

} // namespace downbeat
