// SPDX-License-Identifier: BSD-2-Clause-Patent
// The flow whose event a port offers next.
#pragma once

#include "lib/packets/draw.h"

namespace events {

enum class Order { round, random, one };

class Turn {
public:
  /// The next of `flows` flows; round robin from `first` on, every `step`-th.
  Turn(Order order, unsigned flows, unsigned first, unsigned step, std::uint64_t seed)
      : order_(order), flows_(flows), step_(step), at_(first % flows), draw_(seed) {
    if (order == Order::random) next();
  }

  unsigned flow() const { return order_ == Order::one ? 0 : at_; }
  void next() { at_ = order_ == Order::random ? static_cast<unsigned>(draw_.below(flows_)) : (at_ + step_) % flows_; }

private:
  Order order_;
  unsigned flows_, step_, at_;
  fuzz::Draw draw_;
};

} // namespace events
