// SPDX-License-Identifier: BSD-2-Clause-Patent
// One way of a wire that loses frames: which ones the seed says, by their number on that way and not by their time.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

class LossyWire {
public:
  /// Loses the share `loss`, from 0 up to but without 1. Ways of one seed differ by `way`.
  LossyWire(double loss, std::uint64_t seed, std::uint64_t way)
      : draw_(2 * seed + way), threshold_(static_cast<std::uint64_t>(std::ldexp(loss, 64))) {}

  /// The next frame's fate.
  bool loses() {
    ++frames;
    const bool lost = draw_() < threshold_;
    dropped += lost;
    return lost;
  }

  std::uint64_t frames = 0, dropped = 0;

private:
  std::mt19937_64 draw_; // its numbers are the standard's: the same everywhere
  std::uint64_t threshold_;
};
