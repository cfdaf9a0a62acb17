// SPDX-License-Identifier: BSD-2-Clause-Patent
// Time comes in as an argument: nanoseconds of a clock that nobody sets and that runs on in sleep (CLOCK_BOOTTIME).
#pragma once

#include <cstdint>
#include <ctime>

namespace downbeat::gateway {

using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds millisecond = 1'000'000, second = 1'000'000'000;

/// Ages are whole buckets: 30 buckets of 10 s are the 5 minutes of SPAND, section 5.2.
inline constexpr Nanoseconds bucketTime = 10 * second;
inline constexpr std::uint32_t bucketsKept = 30;
inline constexpr std::uint32_t stateBuckets = 6; // a host's connections count as live for a minute without an update

/// The number of the bucket that `now` is in. It begins behind those that can be older than the clock's zero: 0 means
/// never.
inline std::uint32_t bucketOf(Nanoseconds now) {
  return static_cast<std::uint32_t>(now / bucketTime) + 2 * bucketsKept;
}

inline Nanoseconds read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * second + time.tv_nsec;
}

} // namespace downbeat::gateway
