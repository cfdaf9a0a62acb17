// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "relay.h"

namespace {

constexpr downbeat_time longestWait = DOWNBEAT_NANOSECONDS(100'000'000);

} // namespace

void Relay::run(const volatile std::sig_atomic_t &stop) {
  const std::array descriptors{first_.descriptor(), second_.descriptor()};
  while (!stop) {
    carry(first_, second_, toSecond);
    carry(second_, first_, toFirst);
    const downbeat_time now = clock_.now();
    waitForFrame(descriptors, now, std::min({toFirst.next(), toSecond.next(), now + longestWait}));
  }
}

void Relay::carry(Tap &from, Tap &to, Way &way) {
  const auto forward = [&](std::span<const std::uint8_t> frame) { to.write(frame); };
  for (std::size_t length; (length = from.read(frame_)) > 0;) way.enter(clock_.now(), {frame_.data(), length}, forward);
  way.release(clock_.now(), forward);
}
