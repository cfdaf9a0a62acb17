// SPDX-License-Identifier: BSD-2-Clause-Patent
// A destination prefix, the key of everything that hosts share (RFC 4632; /24 for IPv4 by default, SPAND 5.2.1).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace downbeat::gateway {

struct Prefix {
  static constexpr std::uint8_t shortest = 8; // bits; a shorter one would speak for a large part of the Internet

  std::uint8_t family = 4; // 4 or 6
  std::uint8_t length = 0; // bits, 8 to 32 or 8 to 128
  std::array<std::uint8_t, 16> address{};

  bool operator==(const Prefix &) const = default;
  auto operator<=>(const Prefix &) const = default;

  /// Whether family and length are possible and every bit behind the length is zero.
  bool valid() const {
    if ((family != 4 && family != 6) || length < shortest || length > (family == 4 ? 32 : 128)) return false;
    for (unsigned byte = length / 8, bits = 0xff >> length % 8; byte < address.size(); ++byte, bits = 0xff)
      if (address[byte] & bits) return false;
    return true;
  }

  std::string text() const;                              // "192.0.2.0/24"
  static std::optional<Prefix> parse(std::string_view text); // nothing: not a prefix, or bits behind its length
};

/// SipHash-2-4 with a key that is drawn at the process's start (libsodium): a host that is authenticated may choose its
/// prefixes, and must not choose which of them share a bucket.
struct PrefixHash {
  std::size_t operator()(const Prefix &prefix) const;
};

} // namespace downbeat::gateway
