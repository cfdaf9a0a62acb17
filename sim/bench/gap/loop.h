// SPDX-License-Identifier: BSD-2-Clause-Patent
// The far end of the wire: repeats every frame in a clock of its own, some symbols later.
#pragma once

#include <deque>

#include "ethernet.h"

namespace gap {

class Loop {
public:
  /// The byte that the near end sends in one of its clocks.
  void put(wire::Symbol symbol) {
    if (symbol.valid || carried_) symbols_.push_back(symbol); // a frame, and the one idle symbol that ends it
    carried_ = symbol.valid;
  }
  /// The byte that the far end sends in one of its own.
  wire::Symbol next() {
    if (!inFrame_ && symbols_.size() < slack) return {};
    const wire::Symbol symbol = symbols_.front();
    symbols_.pop_front();
    inFrame_ = symbol.valid;
    return symbol;
  }
  bool empty() const { return symbols_.empty(); }

private:
  /// Enough for the longest frame with clocks 200 ppm apart.
  static constexpr std::size_t slack = 4;

  std::deque<wire::Symbol> symbols_;
  bool carried_ = false, inFrame_ = false;
};

} // namespace gap
