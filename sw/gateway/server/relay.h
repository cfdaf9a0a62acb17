// SPDX-License-Identifier: BSD-2-Clause-Patent
// Several gateways of one site share what they accept through a stream of Redis. Responses always come from memory:
// Redis is a log that each gateway appends to and follows, so nobody waits for it and its loss costs only the others'
// updates.
//
// Entries are sealed as the hosts' messages are, and each counts once (counted.h), by the sequence of the session of
// the gateway that wrote it. The snapshot has which are counted, so that a restart counts none again. Whoever can write
// to Redis alone can store nothing but what a gateway sealed before this one began, and no snapshot has, once. The age
// of an entry never depends on a date: it is at most the time since the last look that found the stream read to its
// end. For what lies there at a start the ids of the stream, which are dates of Redis, are compared with Redis's own
// date.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "log.h"
#include "server/redis/connection.h"
#include "wire/clock.h"
#include "wire/counters.h"
#include "wire/keys.h"

namespace downbeat::gateway {

class Relay {
public:
  static constexpr std::size_t maxWaiting = 8'192; // messages kept while Redis is away; the oldest go first
  static constexpr std::size_t maxTaken = 1'024; // messages that the serving thread has not taken; Redis waits

  struct Taken {
    Message message;
    bool atStart; // it lay there when this gateway began
  };

  /// `wake` is called, from the relay's thread, when `taken` has something.
  Relay(RedisAddress address, Keys keys, std::uint64_t self, Counters &counters, Log &log, std::function<void()> wake);
  ~Relay(); // within a second, however slow Redis is

  /// Never waits; the sequence of what others will see.
  std::uint64_t send(std::uint32_t reporter, const std::vector<Report> &reports, Nanoseconds now);
  /// Reports that other gateways have accepted, and this one before it began, with its age: at most so many.
  std::vector<Taken> taken(std::size_t max);
  /// Entries sealed with a key that was not known are read again.
  void replaceKeys(Keys keys);

private:
  struct Waiting {
    Message message;
    Nanoseconds at; // when the gateway took it
  };

  enum class Step { lost, idle, more };

  void run();
  void sleep(std::chrono::milliseconds time);
  Step exchange(RedisConnection &redis);
  bool publish(RedisConnection &redis);
  void take(const std::string &sealed, long long age, bool atStart); // ms

  const RedisAddress address_;
  const std::uint64_t self_; // drawn at the start: a gateway leaves out what it wrote itself
  Counters &counters_;
  Log &log_;
  std::function<void()> wake_;

  std::mutex mutex_; // guards all up to stop_
  std::condition_variable changed_; // taken and stop
  Keys keys_;
  std::deque<Waiting> waiting_;
  std::deque<Taken> taken_;
  bool unknownKey_ = false, again_ = false; // an entry had one; the stream is to be read again
  bool stop_ = false;

  std::string last_ = "0-0"; // the newest entry that was read
  bool atStart_ = true; // the stream has not been read to its end
  Nanoseconds readToEnd_ = 0;
  std::uint64_t sequence_ = 0; // the last that was sent
  std::thread thread_;
};

} // namespace downbeat::gateway
