// SPDX-License-Identifier: BSD-2-Clause-Patent
// The bad wire alone, in real time, between two TAPs with a kernel behind each.
#pragma once

#include <array>
#include <csignal>

#include "options.h"
#include "tap.h"
#include "way.h"

class Relay {
public:
  Relay(Tap &first, Tap &second, const Options &options)
      : toFirst(options, 0), toSecond(options, 1), first_(first), second_(second) {}

  /// Runs until a signal sets `stop`.
  void run(const volatile std::sig_atomic_t &stop);

  Way toFirst, toSecond; // the first stands in the core's place

private:
  void carry(Tap &from, Tap &to, Way &way);

  Tap &first_, &second_;
  WallClock clock_;
  std::array<std::uint8_t, 9018> frame_;
};
