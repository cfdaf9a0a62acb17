// SPDX-License-Identifier: BSD-2-Clause-Patent
// Exact time of the wire's byte times, in the units of the time base.
#pragma once

#include "device/core/launch_gate.h"

namespace gap {

using downbeat::LaunchMode;
using downbeat::Stamp;

/// 2^-32 ns, as the time base counts.
__extension__ typedef __int128 Time;

constexpr Time timeOf(Stamp stamp) { return Time{stamp} << 16; }
constexpr Time nanoseconds(std::uint64_t ns) { return Time{ns} << 32; }
constexpr double inNanoseconds(Time time) { return static_cast<double>(time) / 4294967296.0; }

/// The instants at which a byte may come to the pins: one at `origin`, `byteTime` apart both ways.
struct ByteGrid {
  Time origin = 0, byteTime = nanoseconds(8);

  /// The first one at or after an instant that is not before the origin.
  Time atOrAfter(Time time) const { return origin + (time - origin + byteTime - 1) / byteTime * byteTime; }
};

/// From one SFD to the soonest next one, behind a frame of so many bytes without FCS (IEEE 802.3: 64 at least, 8
/// before, 12 behind).
constexpr std::size_t byteTimes(std::size_t length) { return std::max(length, downbeat::smallestFrame) + 24; }

} // namespace gap
