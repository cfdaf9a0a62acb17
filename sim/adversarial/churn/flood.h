// SPDX-License-Identifier: BSD-2-Clause-Patent
// SYNs from random sources at a tenth of the link while a transfer runs, and a core beside it that has the transfer
// alone.
#pragma once

#include "live.h"

namespace churn {

class Flood {
public:
  explicit Flood(std::uint64_t seed);
  /// So many SYNs; throws Failure.
  void run(std::uint64_t frames);
  /// Members of a JSON object.
  std::string report() const;

private:
  std::uint64_t seed_;
  fuzz::Draw draw_;
  fuzz::Pattern toCore_, toPeer_;
  Live flooded_, quiet_;
  std::uint64_t frames_ = 0;
  double goodput_ = 0, quietGoodput_ = 0; // b/s
};

} // namespace churn
