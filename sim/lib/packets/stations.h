// SPDX-License-Identifier: BSD-2-Clause-Patent
// Stations on the wire, and the frames' largest length.
#pragma once

#include <algorithm>

#include "downbeat_layout.h"
#include "downbeat_sim.h"
#include "packet.h"

namespace fuzz {

inline constexpr Station core{{2, 0, 0, 0, 0, 1}, 0x0a000001};
inline constexpr Station livePeer{{2, 0, 0, 0, 0, 2}, 0x0a000002}; // its connections must not be disturbed
inline constexpr Station victim{{2, 0, 0, 0, 0, 3}, 0x0a000003};   // its connections are there to be attacked
inline constexpr Station silent{{2, 0, 0, 0, 0, 4}, 0x0a000004};   // never replies
inline constexpr Mac attacker{2, 0, 0, 0, 0, 5};
inline constexpr std::uint16_t livePort = 80, victimPort = 7; // that listen
inline constexpr std::uint16_t closedPort = 9;

inline constexpr std::size_t largest = DOWNBEAT_MAXIMUM_FRAME_BYTES - 4;
inline constexpr downbeat_time microsecond = DOWNBEAT_NANOSECONDS(1000), second = DOWNBEAT_NANOSECONDS(1'000'000'000);

/// The core's link, bit/s: a quarter of the rate at which frames reach it (wireTime). Replies that are too many must be
/// dropped, and the rest wait.
inline constexpr std::uint64_t linkRate = 2'000'000'000;
/// A byte each nanosecond: a beat each clock. Preamble, FCS and gap are 24 bytes (IEEE 802.3).
inline downbeat_time wireTime(const Bytes &frame) {
  return DOWNBEAT_NANOSECONDS(std::max(frame.size(), smallestFrame) + 24);
}

} // namespace fuzz
