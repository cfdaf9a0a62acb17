// SPDX-License-Identifier: BSD-2-Clause-Patent
// Senders: reporters with their limits, and their sessions. A session lives in memory alone, until it is silent for ten
// minutes: what was recorded before a restart belongs to no session and changes nothing. The host of a session that is
// gone says hello again.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <variant>
#include <vector>

#include "rate_limit.h"
#include "server/store/replay_window.h"
#include "wire/counters.h"
#include "wire/message.h"

namespace downbeat::gateway {

struct Limits {
  Rate messages{50'000, 10'000}; // of one reporter; a message costs as many as it has items
  Rate hellos{20, 40}; // of one reporter
  std::uint32_t delay = 10'000; // ms that a message may be slower than the fastest of its session
  std::size_t reporters = 65'536;
  std::size_t sessions = 64; // of one reporter
  std::size_t bytes = std::size_t(64) << 20; // for all; where it is full a reporter's own oldest session goes
};

struct Reporter {
  struct Session {
    std::uint64_t token = 0;
    Nanoseconds seen = 0;
    ReplayWindow window{};
    DelayLimit delay;
  };
  struct Hello {
    std::uint64_t nonce = 0;
    Nanoseconds at = 0;
  };
  std::list<Session> sessions{}; // the most recently used first
  std::vector<Hello> welcomed{}; // each counts once while its cookie lives
  RateLimit messages{}, hellos{};
  std::uint64_t reports = 0, queries = 0, refused = 0;
  Nanoseconds seen = 0;
};

class Sessions {
public:
  using Random = std::function<std::uint64_t()>;

  Sessions(const Limits &limits, Random random, Counters &counters)
      : limits_(limits), random_(std::move(random)), counters_(counters) {}

  /// The session of an authenticated hello that has its cookie; above the limit the least recently used one ends.
  std::variant<std::uint64_t, Refusal> open(const Header &header, std::uint64_t nonce, Nanoseconds now);

  /// The reporter of the authenticated message of so many items, or why the message changes nothing.
  std::variant<Reporter *, Refusal> take(const Header &header, std::size_t items, Nanoseconds now);

  void expire(Nanoseconds now); // those that are silent for too long
  void forget(std::uint32_t reporter);

  const std::unordered_map<std::uint32_t, Reporter> &all() const { return reporters_; }

private:
  bool full() const;
  void end(Reporter &reporter); // its least recently used session
  void count();

  const Limits &limits_;
  Random random_;
  Counters &counters_;
  std::unordered_map<std::uint32_t, Reporter> reporters_;
  std::size_t sessions_ = 0; // held by all reporters
};

} // namespace downbeat::gateway
