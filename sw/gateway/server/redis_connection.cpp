// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "redis_connection.h"

#include <sys/time.h>

namespace downbeat::gateway {
namespace {

constexpr timeval timeout{.tv_sec = 0, .tv_usec = 500'000};
const std::string stream = "downbeat:reports";
const std::string longest = "500000"; // entries; several minutes of a busy site
const std::string lifetime = "330";   // seconds without an update after which the stream goes

void freeReply(void *reply) { freeReplyObject(reply); }

} // namespace

RedisConnection::RedisConnection(const std::string &host, int port)
    : context_(redisConnectWithTimeout(host.c_str(), port, timeout), redisFree) {
  if (context_ && !context_->err) redisSetTimeout(context_.get(), timeout);
}

std::string RedisConnection::error() const {
  if (!context_) return "no memory";
  return context_->err ? context_->errstr : refused_;
}

RedisConnection::Reply RedisConnection::next() {
  void *reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) reply = nullptr;
  Reply held(static_cast<redisReply *>(reply), freeReply);
  if (held && held->type == REDIS_REPLY_ERROR) refused_ = std::string(held->str, held->len);
  return held;
}

RedisConnection::Reply RedisConnection::command(const std::vector<std::string> &words) {
  std::vector<const char *> texts;
  std::vector<std::size_t> sizes;
  for (const auto &word : words) texts.push_back(word.data()), sizes.push_back(word.size());
  redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
  return next();
}

bool RedisConnection::append(const std::vector<std::string> &values) {
  const std::vector<std::string> begin = {"XADD", stream, "MAXLEN", "~", longest, "*", "m"};
  for (const auto &value : values) {
    std::vector<const char *> texts;
    std::vector<std::size_t> sizes;
    for (const auto &word : begin) texts.push_back(word.data()), sizes.push_back(word.size());
    texts.push_back(value.data()), sizes.push_back(value.size());
    redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data());
  }
  bool done = true;
  for (std::size_t left = values.size(); left && done; --left) done = !isError(next());
  return done && (values.empty() || !isError(command({"EXPIRE", stream, lifetime})));
}

std::optional<std::vector<RedisConnection::Entry>> RedisConnection::entries(Reply reply) {
  if (isError(reply)) return std::nullopt;
  std::vector<Entry> found;
  for (std::size_t at = 0; reply->type == REDIS_REPLY_ARRAY && at < reply->elements; ++at) {
    // An entry is [id, [name, value, ...]]; what looks otherwise is none of ours.
    const redisReply *entry = reply->element[at];
    if (entry->type != REDIS_REPLY_ARRAY || entry->elements != 2) continue;
    const redisReply *id = entry->element[0], *members = entry->element[1];
    if (id->type != REDIS_REPLY_STRING) continue;
    std::string value;
    if (members->type == REDIS_REPLY_ARRAY && members->elements == 2 && members->element[1]->type == REDIS_REPLY_STRING)
      value.assign(members->element[1]->str, members->element[1]->len);
    found.push_back({std::string(id->str, id->len), std::move(value)});
  }
  return found;
}

std::optional<std::vector<RedisConnection::Entry>> RedisConnection::after(const std::string &id, std::size_t max) {
  return entries(command({"XRANGE", stream, "(" + id, "+", "COUNT", std::to_string(max)}));
}

std::optional<std::string> RedisConnection::newest() {
  const auto found = entries(command({"XREVRANGE", stream, "+", "-", "COUNT", "1"}));
  if (!found) return std::nullopt;
  return found->empty() ? "0-0" : found->front().id;
}

std::optional<long long> RedisConnection::date() {
  const Reply reply = command({"TIME"});
  if (isError(reply) || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) return std::nullopt;
  return std::atoll(reply->element[0]->str) * 1000 + std::atoll(reply->element[1]->str) / 1000;
}

} // namespace downbeat::gateway
