/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// The papers' equations in integers, as downbeat_estimator.h has them; and their numbers.
#pragma once

#include <cstdint>

namespace downbeat::estimator {

__extension__ typedef unsigned __int128 Uint128;

inline constexpr uint32_t halves = 12; // 2^12 ACKs leave 0.03 % of an average

uint64_t liss(uint64_t startingSum, uint32_t steady, uint64_t oldestWindow);
uint64_t awnd(uint64_t average, uint64_t cwnd);
/// `acks` such steps at once, towards one window: (1-0.002)^acks of the distance is left.
uint64_t awnd(uint64_t average, uint64_t cwnd, uint64_t acks);
uint64_t dropInterval(uint64_t interval, uint64_t intervals, uint64_t sample, uint32_t weight);
uint32_t spand(uint64_t segments, uint32_t window, uint32_t acksRatio, bool shift);

} // namespace downbeat::estimator
