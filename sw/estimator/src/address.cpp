/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "address.h"

#include <arpa/inet.h>
#include <charconv>

namespace downbeat::estimator {

namespace {
constexpr uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}; // RFC 4291 2.5.5.2
}

bool isMapped(const downbeat_address &address) { return std::memcmp(address.bytes, mapped, sizeof mapped) == 0; }

bool isUnicast(const downbeat_address &address) {
  const uint8_t *bytes = address.bytes;
  if (isMapped(address)) return bytes[12] != 0 && bytes[12] != 127 && bytes[12] < 224; // RFC 6890, RFC 1112
  uint8_t above = 0; // all but the last byte
  for (int at = 0; at < 15; ++at) above |= bytes[at];
  return bytes[0] != 0xff && (above || bytes[15] > 1); // RFC 4291 2.4
}

Prefix masked(const downbeat_address &address, uint32_t bits) {
  Prefix prefix{address, bits};
  for (uint32_t at = 0; at < 16; ++at) {
    const uint32_t kept = bits > 8 * at ? std::min(bits - 8 * at, 8u) : 0;
    prefix.address.bytes[at] &= static_cast<uint8_t>(0xff00 >> kept);
  }
  return prefix;
}

bool parse(std::string_view text, downbeat_address &address) {
  const std::string ended(text);
  std::memcpy(address.bytes, mapped, sizeof mapped);
  if (inet_pton(AF_INET, ended.c_str(), address.bytes + 12) == 1) return ended.size() == std::strlen(ended.c_str());
  return inet_pton(AF_INET6, ended.c_str(), address.bytes) == 1 && ended.size() == std::strlen(ended.c_str());
}

bool parse(std::string_view text, Prefix &prefix) {
  const size_t slash = text.find('/');
  if (slash == text.npos || !parse(text.substr(0, slash), prefix.address)) return false;
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix.bits);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  if (text.substr(0, slash).find(':') == text.npos) {
    if (prefix.bits > 32) return false;
    prefix.bits += mappedBits;
  }
  return prefix.bits <= 128 && masked(prefix.address, prefix.bits) == prefix;
}

std::string text(const downbeat_address &address) {
  char written[INET6_ADDRSTRLEN];
  const bool v4 = isMapped(address);
  inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes + (v4 ? 12 : 0), written, sizeof written);
  return written;
}

std::string text(const Prefix &prefix) {
  const uint32_t bits = isMapped(prefix.address) && prefix.bits >= mappedBits ? prefix.bits - mappedBits : prefix.bits;
  return text(prefix.address) + '/' + std::to_string(bits);
}

} // namespace downbeat::estimator
