// SPDX-License-Identifier: BSD-2-Clause-Patent
// The few commands of Redis that the relay needs, by hiredis. Each response comes within half a second and has at most
// 512 KiB, whatever others have written into the stream; otherwise the connection has failed.
#pragma once

#include <hiredis/hiredis.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace downbeat::gateway {

struct RedisAddress {
  std::string host;
  int port = 0, database = 0;
  std::string user, password; // empty: the default user; none

  std::string text() const; // without the password
};

class RedisConnection {
public:
  struct Entry {
    std::string id, value; // empty value: none that a gateway has written
  };
  /// A part of the stream. Either it has entries, or `newest` is the id of the stream's last entry; "0-0": none.
  struct Part {
    std::string newest;
    long long date = 0; // ms, Redis's own
    bool end = false;   // nothing comes behind it
    std::vector<Entry> entries;
  };

  /// Empty `error()`: connected.
  explicit RedisConnection(const RedisAddress &address);

  bool append(const std::vector<std::string> &values); // to the stream, oldest beyond its length go
  std::optional<Part> after(const std::string &id);    // the entries behind that id, at most so much at once
  std::string error() const;

private:
  using Reply = std::unique_ptr<redisReply, void (*)(void *)>;

  Reply command(const std::vector<std::string> &words);
  Reply next();
  bool feed(long long end, std::size_t &bytes);
  void queue(const std::vector<std::string> &words);
  static bool isError(const Reply &reply) { return !reply || reply->type == REDIS_REPLY_ERROR; }

  std::unique_ptr<redisContext, void (*)(redisContext *)> context_;
  std::string refused_; // an error of Redis, or why its response was not taken
};

} // namespace downbeat::gateway
