// SPDX-License-Identifier: BSD-2-Clause-Patent
// The embedded store: prefixes in order of use, each with rows of reporters, within a bound of memory. Where it is full
// the reporter with most rows loses the one used least recently, so that nobody displaces those who have fewer.
#pragma once

#include <functional>
#include <list>
#include <set>
#include <unordered_map>
#include <vector>

#include "counted.h"
#include "estimate.h"
#include "wire/counters.h"

namespace downbeat::gateway {

struct StoreLimits {
  std::size_t prefixes = 262'144;
  std::size_t bytes = std::size_t(192) << 20; // rows go when either is reached
  std::size_t reporters = 16; // of one prefix; the one that was silent for longest makes place
  Aggregate aggregate = Aggregate::median;
  std::uint32_t minReports = 1; // fewer transfers behind a mean are not enough data (SPAND 5.2.5)
};

class Store {
public:
  struct Entry {
    Prefix prefix;
    std::vector<Row> rows;
    std::uint64_t reports = 0, queries = 0;
    std::uint32_t newer = none, older = none; // slots, in order of use
    bool used = false;
  };

  Store(const StoreLimits &limits, Counters &counters) : limits_(limits), counters_(counters) {}

  /// `age`: ns since another gateway took the report; 0 for our own.
  void add(std::uint32_t reporter, const Report &report, Nanoseconds now, Nanoseconds age = 0);
  Response request(const Prefix &prefix, Nanoseconds now);

  /// For people and snapshots; neither counts as use.
  const Entry *find(const Prefix &prefix) const;
  Response peek(const Entry &entry, Nanoseconds now) const;
  void restore(Entry entry); // as the most recently used
  void forget(std::uint32_t reporter); // all that it has said
  /// Visits at most `most` entries from `slot` on, forgets what is too old, and returns the next slot; 0: all visited.
  std::size_t sweep(std::size_t slot, std::size_t max, Nanoseconds now, const std::function<void(const Entry &)> &see);
  void each(std::size_t max, const std::function<void(const Entry &)> &see) const; // the most recently used first

  Counted &counted() { return counted_; } // of what other gateways accepted, and of those sent to them

  std::size_t size() const { return slots_.size(); }
  std::size_t bytes() const { return bytes_; }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  Entry &touch(std::uint32_t slot);
  Entry &make(const Prefix &prefix);
  Row &row(Entry &entry, std::uint32_t reporter);
  void hold(Row &row, std::uint32_t slot);
  void release(const Row &row);
  void drop(std::uint32_t reporter); // its row that was used least recently
  std::uint32_t largest() const { return holders_.rbegin()->second; } // the reporter with most rows
  void link(std::uint32_t slot);
  void unlink(std::uint32_t slot);
  void remove(std::uint32_t slot);
  void evict();
  void weigh(std::size_t before, std::size_t after);
  static std::size_t weight(const Entry &entry);

  StoreLimits limits_;
  Counters &counters_;
  Counted counted_;
  std::unordered_map<Prefix, std::uint32_t, PrefixHash> slots_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::uint32_t newest_ = none;
  std::unordered_map<std::uint32_t, std::list<std::uint32_t>> held_; // slots by reporter, the least recently used first
  std::set<std::pair<std::size_t, std::uint32_t>> holders_; // number of rows, reporter
  std::size_t bytes_ = 0;
};

} // namespace downbeat::gateway
