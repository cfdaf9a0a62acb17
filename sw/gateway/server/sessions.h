// SPDX-License-Identifier: BSD-2-Clause-Patent
// Senders: reporters with their limits, and their sessions. A session lives in memory alone: what was recorded
// before a restart belongs to no session and changes nothing. The host of a session that is gone says hello again.
#pragma once

#include <cstdint>
#include <deque>
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
  Rate hellos{20, 40};           // of one reporter
  std::uint32_t delay = 10'000;  // ms that a message may be slower than the fastest of its session
  std::size_t reporters = 65'536;
  std::size_t sessions = 64;     // of one reporter
};

/// A session counts from its first authentic message on, so that a hello that was recorded and comes again takes no
/// session's place; and it costs nothing while its nonce is remembered.
struct Reporter {
  struct Session {
    std::uint64_t token = 0;
    ReplayWindow window;
    DelayLimit delay;
  };
  struct Offer {
    std::uint64_t nonce = 0, token = 0;
    bool taken = false; // it is a session, or was
  };
  std::list<Session> sessions; // the most recently used first
  std::deque<Offer> offers;    // of the newest hellos
  RateLimit messages, hellos;
  std::uint64_t reports = 0, queries = 0, refused = 0;
  Nanoseconds seen = 0;
};

class Sessions {
public:
  using Random = std::function<std::uint64_t()>;

  Sessions(const Limits &limits, Random random, Counters &counters)
      : limits_(limits), random_(std::move(random)), counters_(counters) {}

  /// The session that an authenticated hello of a new nonce is offered.
  std::variant<std::uint64_t, Refusal> open(std::uint32_t reporter, std::uint64_t nonce, Nanoseconds now);

  /// The reporter of the authenticated message of so many items, or why the message changes nothing. The first of an
  /// offer makes it a session; above the limit the least recently used one ends.
  std::variant<Reporter *, Refusal> take(const Header &header, std::size_t items, Nanoseconds now);

  const std::unordered_map<std::uint32_t, Reporter> &all() const { return reporters_; }

private:
  void forgetIdle(Nanoseconds now);
  void start(Reporter &reporter, const Reporter::Session &session);

  const Limits &limits_;
  Random random_;
  Counters &counters_;
  std::unordered_map<std::uint32_t, Reporter> reporters_;
};

} // namespace downbeat::gateway
