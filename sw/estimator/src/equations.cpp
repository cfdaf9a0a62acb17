/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "equations.h"

#include <algorithm>

namespace downbeat::estimator {

namespace {

constexpr uint64_t awndWeight = 131; // 0.002 with 16 fraction bits [Yu 2009, p. 30]
constexpr uint32_t ratioOne = 256, maxRatio = 64 * ratioOne; // segments acknowledged by an ACK

/// The sum of the whole numbers from first to last.
uint64_t sum(uint64_t first, uint64_t last) { return first > last ? 0 : (first + last) * (last - first + 1) / 2; }

} // namespace

/// ssthresh = (S + L w) / (L + S/w + 1), both sides times w [Yu 2009, p. 25].
uint64_t liss(uint64_t startingSum, uint32_t steady, uint64_t oldestWindow) {
  if (steady == 0 || oldestWindow == 0) return 0;
  const Uint128 known = Uint128{steady} * oldestWindow + startingSum;
  return static_cast<uint64_t>(known * oldestWindow / (known + oldestWindow));
}

uint64_t awnd(uint64_t average, uint64_t cwnd) {
  return cwnd > average ? average + (cwnd - average) * awndWeight / 65536
                        : average - (average - cwnd) * awndWeight / 65536;
}

uint64_t awnd(uint64_t average, uint64_t cwnd, uint64_t acks) {
  // (1 - 0.002)^(2^i) with 32 fraction bits
  constexpr uint64_t remaining[halves] = {4286377361, 4277804607, 4260710499, 4226726936, 4159570810, 4028442624,
                                          3778457169, 3324062233, 2572636522, 1540979994, 552884150,  71171877};
  if (acks >> halves) return cwnd;
  uint64_t left = uint64_t{1} << 32;
  for (uint32_t bit = 0; bit < halves; ++bit)
    if (acks >> bit & 1) left = left * remaining[bit] >> 32;
  const uint64_t distance = cwnd > average ? cwnd - average : average - cwnd;
  const uint64_t kept = static_cast<uint64_t>(Uint128{distance} * left >> 32);
  return cwnd > average ? cwnd - kept : cwnd + kept;
}

/// delta_i = (1-g) delta_{i-1} + g (t_{i+1} - t_i), g = weight/3; the first interval as it is [Yu 2009, p. 27].
uint64_t dropInterval(uint64_t interval, uint64_t intervals, uint64_t sample, uint32_t weight) {
  if (intervals == 0) return sample;
  return static_cast<uint64_t>((Uint128{3 - weight} * interval + Uint128{weight} * sample) / 3);
}

/// An epoch of Reno is b sum(h..W) + 2 W + 1 segments. The transfer's last part, r segments, ends at the epoch's end
/// when it starts from the largest w with b sum(w..W) >= r (Eq. 3). The rest of that sum, shared out over its rounds,
/// lowers the window without a round trip more (Eq. 4) [Zhang, Qiu, Keshav 2000, 4.3].
uint32_t spand(uint64_t segments, uint32_t window, uint32_t acksRatio, bool shift) {
  const uint64_t maxWindow = std::min(window, 65'535u), ratio = std::clamp(acksRatio, ratioOne, maxRatio);
  if (maxWindow == 0) return 0;
  const uint64_t half = std::max<uint64_t>(1, (maxWindow + 1) / 2);
  if (segments == 0) return static_cast<uint32_t>(half); // without end: an epoch's start
  const uint64_t epoch = ratio * sum(half, maxWindow) + ratioOne * (2 * maxWindow + 1);
  const uint64_t rest = static_cast<uint64_t>(Uint128{segments - 1} * ratioOne % epoch) / ratioOne + 1;
  uint64_t low = 1, high = maxWindow; // the sum falls as w rises
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (ratio * sum(middle, maxWindow) >= ratioOne * rest)
      low = middle;
    else
      high = middle - 1;
  }
  const uint64_t sent = ratio * sum(low, maxWindow);
  if (!shift || sent <= ratioOne * rest) return static_cast<uint32_t>(low);
  const uint64_t moved = (sent - ratioOne * rest) / (ratio * (maxWindow - low + 1));
  // A transfer of several epochs must not start below where an epoch does.
  const bool several = Uint128{segments} * ratioOne > epoch;
  return static_cast<uint32_t>(std::max(several ? std::min(low, half) : 1, low > moved ? low - moved : 0));
}

} // namespace downbeat::estimator
