// SPDX-License-Identifier: BSD-2-Clause-Patent
// Prefixes as text.
#include "prefix.h"

#include <arpa/inet.h>
#include <charconv>

namespace downbeat::gateway {

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
