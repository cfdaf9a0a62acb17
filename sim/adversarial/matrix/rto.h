// SPDX-License-Identifier: BSD-2-Clause-Patent
// The retransmission timeout of RFC 6298, in real numbers, from the samples and expiries that a sender reports.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

class Rto {
public:
  /// A round trip, s (2.2, 2.3). Only now does the back-off end (5, after 5.7).
  void sample(double rtt) {
    backOff_ = 1;
    if (!smoothed_) {
      smoothed_ = rtt;
      variation_ = rtt / 2;
    } else {
      variation_ = 0.75 * variation_ + 0.25 * std::abs(*smoothed_ - rtt);
      smoothed_ = 0.875 * *smoothed_ + 0.125 * rtt;
    }
  }
  /// The timer has expired (5.5). After a SYN had to be repeated, data begins with 3 s (5.7).
  void expire() {
    backOff_ *= 2;
    synRepeated_ |= opening_;
  }
  /// Something new is acknowledged.
  void acknowledge() {
    if (opening_) backOff_ = 1;
    opening_ = false;
  }

  double seconds() const {
    const double base = smoothed_ ? std::max(floor, *smoothed_ + std::max(granularity, 4 * variation_))
                        : !opening_ && synRepeated_ ? 3
                                                    : 1;
    return std::min(base * backOff_, ceiling);
  }

private:
  static constexpr double floor = 1, ceiling = 60, granularity = 1e-6; // 2.4, 2.5; the core's granularity
  std::optional<double> smoothed_;
  double variation_ = 0, backOff_ = 1;
  bool opening_ = true, synRepeated_ = false; // until the SYN is acknowledged
};
