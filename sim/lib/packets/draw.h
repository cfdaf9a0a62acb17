// SPDX-License-Identifier: BSD-2-Clause-Patent
// Draws that follow from a seed, the same on every machine (SplitMix64; Steele, Lea and Flood 2014).
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

class Draw {
public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// 0 to bound - 1; bound at most 2^32.
  std::uint64_t below(std::uint64_t bound) { return (next() >> 32) * bound >> 32; }
  /// low to high, both included.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(next()); }
  std::uint16_t half() { return static_cast<std::uint16_t>(next()); }
  std::uint32_t word() { return static_cast<std::uint32_t>(next()); }
  /// One of the elements of something that is not empty.
  template <typename Container> const auto &pick(const Container &from) { return from[below(from.size())]; }

private:
  std::uint64_t state_;
};

} // namespace fuzz
