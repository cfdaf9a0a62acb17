// SPDX-License-Identifier: BSD-2-Clause-Patent
// A host's side, without sockets and clock: takes reports and questions, makes datagrams, takes the gateway's. It never
// waits: `request` gives what is there and asks for the next time. Without a gateway it stays as it is and forgets in
// time.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "wire/clock.h"
#include "wire/keys.h"

namespace downbeat::gateway {

struct ClientOptions {
  std::size_t waiting = 4096; // reports kept for sending; the oldest go first
  std::size_t cached = 25'000; // prefixes
  Nanoseconds flush = 50 * millisecond; // a report waits so long at most for others to go with
  Nanoseconds again = 200 * millisecond; // before the same prefix is asked for again
  Nanoseconds helloAgain = second; // before hello is said again
};

struct ClientCounters {
  std::uint64_t reportsSent = 0, reportsDropped = 0, queriesSent = 0, responses = 0, refused = 0, hellos = 0;
};

class Client {
public:
  using Random = std::function<std::uint64_t()>;

  Client(const HostKey &key, Random random, const ClientOptions &options = {})
      : key_(key), random_(std::move(random)), options_(options) {}

  void report(const Report &report, Nanoseconds now);
  /// The latest response to a prefix that still holds, or nothing.
  std::optional<Response> request(const Prefix &prefix, Nanoseconds now);

  /// The datagrams that are to go now; each is given once.
  std::vector<std::vector<std::uint8_t>> due(Nanoseconds now);
  /// Takes a datagram. Anything but the gateway's response to a request of ours changes nothing.
  void receive(Bytes datagram, Nanoseconds now);

  /// Reports go with the next datagrams, without waiting for more.
  void hurry() { options_.flush = 0; }
  bool hasReports() const { return !reports_.empty(); }
  /// Its latest request has a response, which may know nothing.
  bool hasResponse(const Prefix &prefix) const {
    const auto cached = cache_.find(prefix);
    return cached != cache_.end() && cached->second.responded;
  }

  bool connected() const { return session_.has_value(); }
  const ClientCounters &counters() const { return counters_; }

private:
  struct Cached {
    std::optional<Response> response;
    Nanoseconds until = 0, requested = 0;
    bool wanted = false, responded = false; // the latest request
  };

  std::vector<std::uint8_t> seal(Message message, Nanoseconds now);
  void makePlace(Nanoseconds now);
  void renew(); // hello is said again

  HostKey key_;
  Random random_;
  ClientOptions options_;
  ClientCounters counters_;
  std::optional<std::uint64_t> session_;
  std::optional<std::uint64_t> nonce_; // of the hello that has no response
  std::optional<std::uint64_t> cookie_; // the gateway's challenge to it
  Nanoseconds helloAt_ = 0, oldestReport_ = 0;
  std::size_t unanswered_ = 0; // queries since the last response, the first of them at
  Nanoseconds unansweredSince_ = 0;
  std::uint64_t sequence_ = 0, lastResponse_ = 0; // responses count only in order, each once
  std::deque<Report> reports_;
  std::unordered_map<Prefix, Cached, PrefixHash> cache_;
  std::vector<Prefix> wanted_;
};

} // namespace downbeat::gateway
