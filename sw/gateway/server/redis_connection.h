// SPDX-License-Identifier: BSD-2-Clause-Patent
// The few commands of Redis that the relay needs, by hiredis, each within half a second or failed.
#pragma once

#include <hiredis/hiredis.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace downbeat::gateway {

class RedisConnection {
public:
  struct Entry {
    std::string id, value;
  };

  /// Empty `error()`: connected.
  RedisConnection(const std::string &host, int port);

  bool append(const std::vector<std::string> &values);       // to the stream, oldest beyond its length go
  std::optional<std::vector<Entry>> after(const std::string &id, std::size_t max); // entries behind that id
  std::optional<std::string> newest();                       // id of the last entry, "0-0": none
  std::optional<long long> date();                           // ms, Redis's own
  std::string error() const;

private:
  using Reply = std::unique_ptr<redisReply, void (*)(void *)>;

  Reply command(const std::vector<std::string> &words);
  Reply next();
  static bool isError(const Reply &reply) { return !reply || reply->type == REDIS_REPLY_ERROR; }
  std::optional<std::vector<Entry>> entries(Reply reply);

  std::unique_ptr<redisContext, void (*)(redisContext *)> context_;
  std::string refused_; // what Redis answered with an error
};

} // namespace downbeat::gateway
