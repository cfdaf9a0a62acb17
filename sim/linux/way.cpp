// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "way.h"

#include <ctime>

#include <poll.h>

namespace {

constexpr std::uint64_t second = 1'000'000'000; // ns

} // namespace

std::uint64_t WallClock::nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * second + static_cast<std::uint64_t>(now.tv_nsec);
}

void waitForFrame(std::span<const int> descriptors, downbeat_time now, downbeat_time until) {
  if (until <= now) return;
  const std::uint64_t nanoseconds = (until - now) >> 16;
  const timespec timeout{static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
  std::vector<pollfd> polled;
  for (const int descriptor : descriptors) polled.push_back({descriptor, POLLIN, 0});
  ppoll(polled.data(), polled.size(), &timeout, nullptr);
}
