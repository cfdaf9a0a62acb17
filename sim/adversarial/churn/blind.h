// SPDX-License-Identifier: BSD-2-Clause-Patent
// Blind RST, SYN and data segments at a live connection (RFC 5961): a sender that does not know its numbers does no
// harm.
#pragma once

#include <map>

#include "live.h"

namespace churn {

class Blind {
public:
  explicit Blind(std::uint64_t seed);
  /// So many segments; throws Failure.
  void run(std::uint64_t frames);
  /// Members of a JSON object.
  std::string report() const;

private:
  fuzz::Bytes guess();

  std::uint64_t seed_;
  fuzz::Draw draw_;
  fuzz::Pattern toCore_, toPeer_;
  Live live_;
  std::uint64_t frames_ = 0, inWindow_ = 0, exact_ = 0;
  std::map<std::string, std::uint64_t> sent_;
};

} // namespace churn
