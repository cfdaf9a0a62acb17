// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reports of one reporter about one prefix: sums over 5 minutes in buckets of 10 s (SPAND 5.2.5), and its newest words
// for LISS and Careful Resume.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "wire/clock.h"
#include "wire/message.h"

namespace downbeat::gateway {

/// 24 bytes: 25,000 prefixes of several reporters, 30 each, must fit in memory.
struct Bucket {
  std::uint16_t index = 0; // bucket of time, modulo 2^16; `Row::last` has the whole number
  std::uint16_t count = 0; // reports; what comes after 65,535 in one bucket is not added
  float acked = 0;         // sum of segments per ACK
  double window = 0;       // sum, bytes
  double rtt = 0;          // sum, seconds
};
static_assert(sizeof(Bucket) == 24);

struct Mean {
  std::uint32_t count = 0;
  double window = 0, rtt = 0, acked = 0; // sums until `divide`
};

struct Row {
  struct State {
    std::uint32_t index = 0; // bucket of time; 0: never
    float steady = 0;
    double slow = 0, window = 0;
  };
  struct Saved {
    std::uint32_t index = 0;
    double window = 0, rtt = 0;
  };

  std::uint32_t reporter = 0;
  std::uint32_t last = 0; // bucket of time of the newest transfer; 0: never
  std::vector<Bucket> buckets{};
  State state{};
  Saved saved{};
  std::list<std::uint32_t>::iterator place{}; // among its reporter's rows (store.h)

  void add(const Report &report, std::uint32_t now);
  void forget(std::uint32_t now); // what is older than it may be
  bool empty() const { return buckets.empty() && state.index == 0 && saved.index == 0; }

  Mean sums(std::uint32_t now) const; // of the living buckets
  bool hasState(std::uint32_t now) const { return state.index && now - state.index < stateBuckets; }
  bool hasSaved(std::uint32_t now) const { return saved.index && now - saved.index < bucketsKept; }
  bool hasTransfers(std::uint32_t now) const { return last && now - last < bucketsKept; }

  std::uint32_t
  ends(std::uint32_t now) const; // the first bucket of time in which nothing of the row lives; 0: none lives
  std::size_t bytes() const { return sizeof(Row) + buckets.capacity() * sizeof(Bucket); }
};

} // namespace downbeat::gateway
