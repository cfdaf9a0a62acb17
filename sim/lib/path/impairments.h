// SPDX-License-Identifier: BSD-2-Clause-Patent
// Impairments of a path, one way: it loses, holds back, doubles and damages them, as the seed says, by their
// number on that way.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

/// Shares of frames, each from 0 up to but without 1; every copy of a doubled frame has a fate of its own.
struct Impairment {
  double loss = 0;
  double reorder = 0;   // held back by up to `hold`, so that later ones overtake it
  double duplicate = 0; // arrives twice
  double corrupt =
      0;   // one bit of the IP packet is flipped, and the link's FCS is right again: as by a router's bad memory
};

class Impairments {
public:
  /// One copy that arrives.
  struct Copy {
    double held = 0; // share of the longest hold: 0 up to but without 1
    bool damaged = false;
    std::uint64_t bit = 0; // modulo the number of bits
  };

  /// Ways of one seed differ by `way`.
  Impairments(const Impairment &shares, std::uint64_t seed, std::uint64_t way)
      : shares_(shares), draw_(2 * seed + way) {}

  /// The next frame's copies.
  std::vector<Copy> next() {
    ++frames;
    const bool doubled = happens(shares_.duplicate);
    duplicated += doubled;
    std::vector<Copy> copies;
    for (int copy = 0; copy <= doubled; ++copy) {
      // Each copy takes as many numbers as every other: a share may change without another's draws.
      const bool lost = happens(shares_.loss), late = happens(shares_.reorder), damaged = happens(shares_.corrupt);
      const double held = std::ldexp(static_cast<double>(draw_()), -64);
      const std::uint64_t bit = draw_();
      dropped += lost;
      if (lost) continue;
      reordered += late;
      corrupted += damaged;
      copies.push_back({late ? held : 0, damaged, bit});
    }
    return copies;
  }

  std::uint64_t frames = 0, dropped = 0, reordered = 0, duplicated = 0, corrupted = 0;

private:
  bool happens(double share) { return draw_() < static_cast<std::uint64_t>(std::ldexp(share, 64)); }

  Impairment shares_;
  std::mt19937_64 draw_; // its numbers are the standard's: the same everywhere
};

/// Flips one bit of `size` bytes. One flip changes a sum of 16-bit words by a power of two, which is never 0 modulo
/// 2^16 - 1: the Internet checksum catches every one of them (two flips it may miss).
inline void flip(std::uint8_t *bytes, std::size_t size, std::uint64_t bit) {
  const std::uint64_t chosen = bit % (8 * size);
  bytes[chosen / 8] ^= static_cast<std::uint8_t>(1 << chosen % 8);
}
