/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// Which prefix an address falls in: the longest rule that covers it, else a fixed length.
#pragma once

#include <bitset>
#include <set>
#include <string>
#include <string_view>

#include "address.h"

namespace downbeat::estimator {

class Rules {
public:
  Rules(uint32_t bits, uint32_t bitsV6) : bits_(bits), bitsV6_(bitsV6) {}

  /// A rule a line; 0, or the number of the first line that is none: then the rules stay as they were.
  size_t add(std::string_view text);
  Prefix of(const downbeat_address &address) const;
  size_t bytes() const { return rules_.size() * 80; }

private:
  uint32_t bits_, bitsV6_;
  std::set<std::string> rules_; // address and length, 17 bytes
  std::bitset<129> lengths_;    // that some rule has
};

} // namespace downbeat::estimator
