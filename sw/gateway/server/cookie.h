// SPDX-License-Identifier: BSD-2-Clause-Patent
// Proof that a hello is of now and that its sender receives at its address, without a word of memory: the gateway's
// first response to a hello is this number, and the hello that has it comes within 5 to 10 s (RFC 6347, section
// 4.2.1).
#pragma once

#include <array>
#include <cstring>
#include <sodium.h>
#include <vector>

#include "wire/bytes.h"
#include "wire/clock.h"
#include "wire/message.h"

namespace downbeat::gateway {

class Cookies {
public:
  static constexpr Nanoseconds slot = 5 * second, life = 2 * slot;

  Cookies() { randombytes_buf(key_.data(), key_.size()); }

  /// `source`: the datagram's source address, as the kernel has it.
  std::uint64_t make(std::uint32_t reporter, std::uint64_t nonce, Bytes source, Nanoseconds now) const {
    return hash(reporter, nonce, source, now / slot);
  }
  bool fits(std::uint64_t cookie, std::uint32_t reporter, std::uint64_t nonce, Bytes source, Nanoseconds now) const {
    return cookie == hash(reporter, nonce, source, now / slot) ||
           cookie == hash(reporter, nonce, source, now / slot - 1);
  }

private:
  std::uint64_t hash(std::uint32_t reporter, std::uint64_t nonce, Bytes source, std::int64_t at) const {
    std::vector<std::uint8_t> input;
    Writer writer(input);
    writer.number(reporter, 4);
    writer.number(nonce, 8);
    writer.number(static_cast<std::uint64_t>(at), 8);
    writer.copy(source);
    std::uint64_t output;
    static_assert(sizeof output == crypto_shorthash_BYTES);
    crypto_shorthash(reinterpret_cast<std::uint8_t *>(&output), input.data(), input.size(), key_.data());
    return output;
  }

  std::array<std::uint8_t, crypto_shorthash_KEYBYTES> key_{};
};

} // namespace downbeat::gateway
