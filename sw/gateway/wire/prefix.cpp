// SPDX-License-Identifier: BSD-2-Clause-Patent
// Prefixes as text, and their keyed hash.
#include "prefix.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <sodium.h>

namespace downbeat::gateway {
namespace {

using HashKey = std::array<std::uint8_t, crypto_shorthash_KEYBYTES>;

HashKey drawKey() {
  HashKey key;
  randombytes_buf(key.data(), key.size());
  return key;
}

} // namespace

std::size_t PrefixHash::operator()(const Prefix &prefix) const {
  static const HashKey key = drawKey();
  std::array<std::uint8_t, 18> input{prefix.family, prefix.length};
  std::ranges::copy(prefix.address, input.begin() + 2);
  std::array<std::uint8_t, crypto_shorthash_BYTES> output;
  crypto_shorthash(output.data(), input.data(), input.size(), key.data());
  std::size_t hash;
  static_assert(sizeof hash == crypto_shorthash_BYTES);
  std::memcpy(&hash, output.data(), sizeof hash);
  return hash;
}

std::string Prefix::text() const {
  char name[INET6_ADDRSTRLEN] = "";
  inet_ntop(family == 4 ? AF_INET : AF_INET6, address.data(), name, sizeof name);
  return std::string(name) + "/" + std::to_string(length);
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Prefix prefix;
  const std::string name(text.substr(0, slash));
  prefix.family = name.find(':') == std::string::npos ? 4 : 6;
  if (inet_pton(prefix.family == 4 ? AF_INET : AF_INET6, name.c_str(), prefix.address.data()) != 1) return std::nullopt;
  const auto digits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix.length);
  if (error != std::errc() || end != digits.data() + digits.size() || !prefix.valid()) return std::nullopt;
  return prefix;
}

} // namespace downbeat::gateway
