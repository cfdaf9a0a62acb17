// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "connection.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

#include "wire/clock.h"
#include "wire/message.h"

namespace downbeat::gateway {
namespace {

constexpr Nanoseconds limit = second / 2;
constexpr timeval timeout{.tv_sec = 0, .tv_usec = limit / 1000};
constexpr std::size_t maxResponse = 512 << 10;
const std::string stream = "downbeat:reports";
const std::string longest = "500000"; // entries; several minutes of a busy site
const std::string lifetime = "330";   // seconds without an update after which the stream goes
const std::string entriesAtOnce = "100", bytesAtOnce = "262144";

// One entry after the other, so that large ones of others end a part and never leave Redis.
const std::string script = R"lua(
local found, bytes, last = {}, 0, ARGV[1]
while #found < tonumber(ARGV[2]) and bytes < tonumber(ARGV[3]) do
  local entry = redis.call('XRANGE', KEYS[1], '(' .. last, '+', 'COUNT', 1)[1]
  if not entry then break end
  for _, word in ipairs(entry[2]) do bytes = bytes + #word end
  last = entry[1]
  found[#found + 1] = {last, #entry[2] == 2 and #entry[2][2] <= tonumber(ARGV[4]) and entry[2][2] or ''}
end
local whole = #found < tonumber(ARGV[2]) and bytes < tonumber(ARGV[3])
local newest = #found == 0 and redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local time = redis.call('TIME')
return {newest and newest[1] or '0-0', time[1] * 1000 + math.floor(time[2] / 1000), whole and 1 or 0, found})lua";

void freeReply(void *reply) { freeReplyObject(reply); }

std::string text(const redisReply *reply) {
  return reply->type == REDIS_REPLY_STRING ? std::string(reply->str, reply->len) : std::string();
}

} // namespace

std::string RedisAddress::text() const {
  return "redis://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port) +
         (database ? "/" + std::to_string(database) : "");
}

RedisConnection::RedisConnection(const RedisAddress &address)
    : context_(redisConnectWithTimeout(address.host.c_str(), address.port, timeout), redisFree) {
  if (!context_ || context_->err) return;
  redisSetTimeout(context_.get(), timeout);
  std::vector<std::string> login = {"AUTH"};
  if (!address.user.empty()) login.push_back(address.user);
  login.push_back(address.password);
  if (!address.password.empty() && isError(command(login))) return;
  if (address.database) command({"SELECT", std::to_string(address.database)});
}

std::string RedisConnection::error() const {
  if (!context_) return "no memory";
  return context_->err ? context_->errstr : refused_;
}

// Reads until `end` (ns, CLOCK_MONOTONIC) and the bound of bytes.
bool RedisConnection::feed(long long end, std::size_t &bytes) {
  std::array<char, 16 << 10> buffer;
  pollfd ready{.fd = context_->fd, .events = POLLIN, .revents = 0};
  const Nanoseconds left = end - read(CLOCK_MONOTONIC);
  if (left <= 0 || poll(&ready, 1, static_cast<int>(left / millisecond) + 1) == 0) {
    refused_ = "no whole response within half a second";
    return false;
  }
  const ssize_t size = recv(context_->fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size <= 0) {
    refused_ = size == 0 ? "Redis closed the connection" : std::strerror(errno);
    return false;
  }
  if ((bytes += static_cast<std::size_t>(size)) > maxResponse) {
    refused_ = "a response of more than 512 KiB";
    return false;
  }
  return redisReaderFeed(context_->reader, buffer.data(), static_cast<std::size_t>(size)) == REDIS_OK;
}

RedisConnection::Reply RedisConnection::next() {
  const Nanoseconds end = read(CLOCK_MONOTONIC) + limit;
  Reply none(nullptr, freeReply);
  if (!error().empty()) return none;
  for (int sent = 0; !sent;)
    if (redisBufferWrite(context_.get(), &sent) != REDIS_OK) return none;
  void *reply = nullptr;
  for (std::size_t bytes = 0; !reply;) {
    if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) {
      refused_ = context_->reader->errstr;
      return none;
    }
    if (!reply && !feed(end, bytes)) return none;
  }
  Reply held(static_cast<redisReply *>(reply), freeReply);
  if (held->type == REDIS_REPLY_ERROR) refused_ = std::string(held->str, held->len);
  return held;
}

void RedisConnection::queue(const std::vector<std::string> &words) {
  std::vector<const char *> texts;
  std::vector<std::size_t> sizes;
  for (const auto &word : words) texts.push_back(word.data()), sizes.push_back(word.size());
  redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
}

RedisConnection::Reply RedisConnection::command(const std::vector<std::string> &words) {
  queue(words);
  return next();
}

bool RedisConnection::append(const std::vector<std::string> &values) {
  for (const auto &value : values) queue({"XADD", stream, "MAXLEN", "~", longest, "*", "m", value});
  bool done = true;
  for (std::size_t left = values.size(); left && done; --left) done = !isError(next());
  return done && (values.empty() || !isError(command({"EXPIRE", stream, lifetime})));
}

std::optional<RedisConnection::Part> RedisConnection::after(const std::string &id) {
  const Reply reply = command({"EVAL", script, "1", stream, id, entriesAtOnce, bytesAtOnce, std::to_string(maxBytes)});
  if (isError(reply)) return std::nullopt;
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 4 || reply->element[3]->type != REDIS_REPLY_ARRAY) {
    refused_ = "a response in another form";
    return std::nullopt;
  }
  Part part{.newest = text(reply->element[0]),
            .date = reply->element[1]->integer,
            .end = reply->element[2]->integer == 1,
            .entries = {}};
  for (const redisReply *entry : std::span(reply->element[3]->element, reply->element[3]->elements))
    if (entry->type == REDIS_REPLY_ARRAY && entry->elements == 2)
      part.entries.push_back({text(entry->element[0]), text(entry->element[1])});
  return part;
}

} // namespace downbeat::gateway
