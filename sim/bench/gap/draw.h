// SPDX-License-Identifier: BSD-2-Clause-Patent
// Seeded draws of lengths and times.
#pragma once

#include <cmath>
#include <random>
#include <string>

#include "time_line.h"

namespace gap {

constexpr std::size_t shortest = 60, longest = 1514; // bytes without FCS

class Draw {
public:
  /// `length`: bytes with FCS, or `mixed`.
  Draw(std::uint64_t seed, const std::string &length)
      : random_(seed), length_(length == "mixed" ? 0 : std::stoul(length) - 4) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  /// Without FCS. Mixed: a quarter smallest, a quarter largest, the rest anything between.
  std::size_t length() {
    if (length_ != 0) return length_;
    switch (below(4)) {
    case 0: return shortest;
    case 1: return longest;
    default: return shortest + below(longest - shortest + 1);
    }
  }
  /// Anything below so many ns, on no grid but that of the stamps.
  Stamp spare(double ns) { return below(static_cast<std::uint64_t>(ns * 65536) + 1); }
  /// From 0 to 1.
  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  /// Uniform in the logarithm, ns.
  Stamp logarithmic(double min, double max) { return static_cast<Stamp>(min * std::pow(max / min, share()) * 65536); }

private:
  std::mt19937_64 random_;
  std::size_t length_;
};

/// Rounded up to a stamp.
constexpr Stamp stampAfter(Time time) { return static_cast<Stamp>((time + 0xffff) >> 16); }

} // namespace gap
