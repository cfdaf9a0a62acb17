/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// Addresses and prefixes in IPv6 form.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "downbeat_estimator.h"
#include "hash.h"

namespace downbeat::estimator {

inline constexpr uint32_t mappedBits = 96; // ::ffff:0:0/96

struct Prefix {
  downbeat_address address{}; // host bits 0
  uint32_t bits = 0;

  bool operator==(const Prefix &other) const {
    return bits == other.bits && std::memcmp(address.bytes, other.address.bytes, sizeof address.bytes) == 0;
  }
};

inline bool same(const downbeat_address &one, const downbeat_address &other) {
  return std::memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

bool isMapped(const downbeat_address &address);
/// A peer can have it: not unspecified, loopback, multicast or broadcast.
bool isUnicast(const downbeat_address &address);
Prefix masked(const downbeat_address &address, uint32_t bits);
bool parse(std::string_view text, downbeat_address &address);
/// `address/bits`, IPv4 bits counted from 96; false if host bits are set.
bool parse(std::string_view text, Prefix &prefix);
std::string text(const downbeat_address &address);
std::string text(const Prefix &prefix);

inline uint64_t hashed(const uint64_t (&key)[2], const downbeat_address &address, uint32_t bits) {
  uint64_t words[2];
  std::memcpy(words, address.bytes, sizeof words);
  // The length goes into the key, so that a /24 and a /25 of one address differ.
  const uint64_t keyed[2] = {key[0] ^ bits, key[1]};
  return siphash(keyed, words[0], words[1]);
}

} // namespace downbeat::estimator
