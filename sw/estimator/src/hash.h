/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// SipHash-1-3 with a secret key (Aumasson, Bernstein 2012), and an index by it: peers choose addresses, so an index
/// that they can predict would let them make each look-up slow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace downbeat::estimator {

inline constexpr uint32_t nowhere = UINT32_MAX;

/// Two words of message, and its length in the last block.
inline uint64_t siphash(const uint64_t (&key)[2], uint64_t first, uint64_t second) {
  uint64_t v0 = key[0] ^ 0x736f6d6570736575, v1 = key[1] ^ 0x646f72616e646f6d;
  uint64_t v2 = key[0] ^ 0x6c7967656e657261, v3 = key[1] ^ 0x7465646279746573;
  const auto round = [&] {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  };
  for (const uint64_t word : {first, second, uint64_t{16} << 56}) {
    v3 ^= word;
    round();
    v0 ^= word;
  }
  v2 ^= 0xff;
  round(), round(), round();
  return v0 ^ v1 ^ v2 ^ v3;
}

/// Index of a key's record in its owner's array; open addressing, at most half full.
class Index {
public:
  explicit Index(uint32_t records) : cells_(std::bit_ceil(uint64_t{records} * 2)), mask_(cells_.size() - 1) {}

  /// `same(place)` says whether the record at that place has the key.
  template <class Same> uint32_t find(uint64_t hash, Same same) const {
    for (uint64_t at = hash & mask_; cells_[at].place != nowhere; at = (at + 1) & mask_)
      if (cells_[at].tag == tag(hash) && same(cells_[at].place)) return cells_[at].place;
    return nowhere;
  }

  void insert(uint64_t hash, uint32_t place) {
    uint64_t at = hash & mask_;
    while (cells_[at].place != nowhere) at = (at + 1) & mask_;
    cells_[at] = {tag(hash), place};
  }

  /// Moves later cells of the run back, so that no cell is a tombstone.
  void erase(uint64_t hash, uint32_t place) {
    uint64_t hole = hash & mask_;
    while (cells_[hole].place != place) hole = (hole + 1) & mask_;
    for (uint64_t at = (hole + 1) & mask_; cells_[at].place != nowhere; at = (at + 1) & mask_)
      if (((at - cells_[at].tag) & mask_) >= ((at - hole) & mask_)) cells_[hole] = cells_[at], hole = at;
    cells_[hole] = {};
  }

  size_t bytes() const { return cells_.size() * sizeof(Cell); }

private:
  struct Cell {
    uint32_t tag = 0; // the hash's low half: its low bits are the home cell
    uint32_t place = nowhere;
  };
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash); }

  std::vector<Cell> cells_;
  uint64_t mask_;
};

} // namespace downbeat::estimator
