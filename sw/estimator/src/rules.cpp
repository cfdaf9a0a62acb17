/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "rules.h"

namespace downbeat::estimator {

namespace {

std::string key(const Prefix &prefix) {
  return std::string(reinterpret_cast<const char *>(prefix.address.bytes), 16) + static_cast<char>(prefix.bits);
}

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const auto blank = [](char each) { return each == ' ' || each == '\t' || each == '\r'; };
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  return line;
}

} // namespace

size_t Rules::add(std::string_view text) {
  Rules after = *this;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (line.empty()) continue;
    Prefix prefix;
    if (!parse(line, prefix) || prefix.bits == 0) return number;
    after.rules_.insert(key(prefix));
    after.lengths_.set(prefix.bits);
  }
  *this = std::move(after);
  return 0;
}

Prefix Rules::of(const downbeat_address &address) const {
  for (uint32_t bits = rules_.empty() ? 0 : 128; bits > 0; --bits) {
    if (!lengths_.test(bits)) continue;
    const Prefix prefix = masked(address, bits);
    if (rules_.contains(key(prefix))) return prefix;
  }
  return masked(address, isMapped(address) ? mappedBits + bits_ : bitsV6_);
}

} // namespace downbeat::estimator
