// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "collisions.h"

#include <bit>
#include <map>

namespace fuzz {

namespace {

constexpr std::uint32_t attackers = 0x0a000300; // addresses from here on

struct State {
  std::uint32_t v[4];

  void round() {
    v[0] += v[1], v[1] = std::rotl(v[1], 5) ^ v[0], v[0] = std::rotl(v[0], 16);
    v[2] += v[3], v[3] = std::rotl(v[3], 8) ^ v[2];
    v[0] += v[3], v[3] = std::rotl(v[3], 7) ^ v[0];
    v[2] += v[1], v[1] = std::rotl(v[1], 13) ^ v[2], v[2] = std::rotl(v[2], 16);
  }
};

/// The lookup's key: SipHash-2-4 of 20 zero bytes. Of the secret, a simulation sets the lower half.
std::uint64_t lookupKey(std::uint64_t secret) {
  std::uint64_t v0 = secret ^ 0x736f6d6570736575, v1 = 0x646f72616e646f6d, v2 = secret ^ 0x6c7967656e657261,
                v3 = 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (; count > 0; --count) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  };
  for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{20} << 56}) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

State hash(std::uint64_t key, const Tuple &tuple) {
  const auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  State state{{low, high, 0x6c796765 ^ low, 0x74656462 ^ high}};
  for (const std::uint32_t word :
       {tuple.remoteIp, std::uint32_t{tuple.remotePort} << 16 | tuple.localPort, std::uint32_t{8} << 24}) {
    state.v[3] ^= word;
    state.round();
    state.v[0] ^= word;
  }
  state.v[2] ^= 0xff;
  for (int i = 0; i < 3; ++i) state.round();
  return state;
}

} // namespace

std::vector<Tuple> collisions(std::uint64_t secret, std::uint16_t localPort, std::size_t count, std::uint32_t buckets) {
  const std::uint64_t key = lookupKey(secret);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Tuple>> found;
  for (std::uint32_t i = 0;; ++i) {
    const Tuple tuple{attackers + i / 60000, static_cast<std::uint16_t>(1024 + i % 60000), localPort};
    const State state = hash(key, tuple);
    auto &alike = found[{state.v[0] % buckets, state.v[2] % buckets}];
    alike.push_back(tuple);
    if (alike.size() == count) return alike;
  }
}

} // namespace fuzz
