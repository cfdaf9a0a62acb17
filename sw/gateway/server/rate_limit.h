// SPDX-License-Identifier: BSD-2-Clause-Patent
// A token bucket: so many a second, and a burst.
#pragma once

#include <algorithm>

#include "wire/clock.h"

namespace downbeat::gateway {

struct Rate {
  double perSecond = 0;
  double burst = 0;
};

class RateLimit {
public:
  /// Takes `cost` tokens, or says no. A clock that stands still or goes back adds nothing.
  bool take(const Rate &rate, Nanoseconds now, double cost = 1) {
    if (!started_) {
      started_ = true;
      tokens_ = rate.burst;
      last_ = now;
    }
    if (now > last_) {
      tokens_ = std::min(rate.burst, tokens_ + rate.perSecond * double(now - last_) / double(second));
      last_ = now;
    }
    if (tokens_ < cost) return false;
    tokens_ -= cost;
    return true;
  }

private:
  bool started_ = false;
  double tokens_ = 0;
  Nanoseconds last_ = 0;
};

} // namespace downbeat::gateway
