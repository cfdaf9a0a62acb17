// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "client.h"

#include <algorithm>

namespace downbeat::gateway {
namespace {

// Queries without a response. A host that was paused is stale to its session for ever, and gets no response.
constexpr std::size_t maxUnanswered = 3;

} // namespace

void Client::report(const Report &report, Nanoseconds now) {
  if (reports_.empty()) oldestReport_ = now;
  if (reports_.size() == options_.waiting) {
    reports_.pop_front();
    ++counters_.reportsDropped;
  }
  reports_.push_back(report);
}

std::optional<Response> Client::request(const Prefix &prefix, Nanoseconds now) {
  if (!cache_.contains(prefix) && cache_.size() >= options_.cached) makePlace(now);
  Cached &cached = cache_[prefix];
  if (cached.response && now >= cached.until) cached.response.reset();
  const bool old = !cached.response || now >= cached.until - (cached.until - cached.requested) / 2;
  if (old && !cached.wanted && wanted_.size() < options_.cached && now - cached.requested >= options_.again) {
    cached.wanted = true;
    cached.responded = false;
    wanted_.push_back(prefix);
  }
  return cached.response && cached.response->known() ? cached.response : std::nullopt;
}

std::vector<std::vector<std::uint8_t>> Client::due(Nanoseconds now) {
  std::vector<std::vector<std::uint8_t>> datagrams;
  if (unanswered_ >= maxUnanswered && now - unansweredSince_ >= options_.helloAgain) renew();
  if (!session_) {
    if (nonce_ && !cookie_ && now - helloAt_ < options_.helloAgain) return datagrams;
    if (!cookie_) nonce_ = random_();
    helloAt_ = now;
    ++counters_.hellos;
    Message hello{.header = {.type = Type::hello}};
    hello.value = *nonce_;
    hello.token = std::exchange(cookie_, std::nullopt).value_or(0);
    datagrams.push_back(seal(std::move(hello), now));
    return datagrams;
  }
  while (!wanted_.empty()) {
    Message query{.header = {.type = Type::query}};
    const std::size_t size = std::min(wanted_.size(), maxQueries);
    query.queries.assign(wanted_.end() - static_cast<std::ptrdiff_t>(size), wanted_.end());
    wanted_.resize(wanted_.size() - size);
    for (const Prefix &prefix : query.queries) {
      const auto cached = cache_.find(prefix);
      if (cached == cache_.end()) continue;
      cached->second.requested = now;
      cached->second.wanted = false;
    }
    if (unanswered_++ == 0) unansweredSince_ = now;
    counters_.queriesSent += size;
    datagrams.push_back(seal(std::move(query), now));
  }
  while (reports_.size() >= maxReports || (!reports_.empty() && now - oldestReport_ >= options_.flush)) {
    Message report{.header = {.type = Type::report}};
    const auto size = static_cast<std::ptrdiff_t>(std::min(reports_.size(), maxReports));
    report.reports.assign(reports_.begin(), reports_.begin() + size);
    reports_.erase(reports_.begin(), reports_.begin() + size);
    counters_.reportsSent += static_cast<std::uint64_t>(size);
    datagrams.push_back(seal(std::move(report), now));
  }
  return datagrams;
}

void Client::receive(Bytes datagram, Nanoseconds now) {
  const auto refuse = [this] { ++counters_.refused; };
  const auto decoded = decodeHeader(datagram);
  const auto *header = std::get_if<Header>(&decoded);
  if (!header || header->reporter != key_.reporter || header->key != key_.id || !tagFits(key_.key, datagram))
    return refuse();
  auto body = decodeBody(*header, datagram.subspan(headerBytes, datagram.size() - headerBytes - tagBytes));
  auto *message = std::get_if<Message>(&body);
  if (!message) return refuse();
  switch (header->type) {
  case Type::welcome:
    if (!nonce_ || message->value != *nonce_) return refuse();
    session_ = message->token;
    nonce_.reset();
    return;
  case Type::challenge:
    if (!nonce_ || message->value != *nonce_) return refuse();
    cookie_ = message->token;
    return;
  case Type::refusal: // the gateway has started again: hello once more, and what is cached stays until it ends
    if (!session_ || header->session != *session_) return refuse();
    return renew();
  case Type::response:
    if (!session_ || header->session != *session_ || header->sequence <= lastResponse_ || header->sequence > sequence_)
      return refuse();
    lastResponse_ = header->sequence;
    unanswered_ = 0;
    for (const Response &response : message->responses) {
      const auto cached = cache_.find(response.prefix);
      if (cached == cache_.end()) continue;
      ++counters_.responses;
      cached->second.response = response;
      cached->second.responded = true;
      // From the asking on: how long the response was on its way is not known.
      cached->second.until = cached->second.requested + Nanoseconds(response.lifetime) * millisecond;
      if (now >= cached->second.until) cached->second.response.reset();
    }
    return;
  default: return refuse();
  }
}

std::vector<std::uint8_t> Client::seal(Message message, Nanoseconds now) {
  message.header.key = key_.id;
  message.header.reporter = key_.reporter;
  message.header.stamp = static_cast<std::uint32_t>(now / millisecond);
  message.header.session = session_.value_or(0);
  message.header.sequence = session_ ? ++sequence_ : 0;
  std::vector<std::uint8_t> bytes;
  encode(message, bytes);
  appendTag(key_.key, bytes);
  return bytes;
}

void Client::renew() {
  session_.reset();
  cookie_.reset();
  sequence_ = lastResponse_ = 0;
  unanswered_ = 0;
}

void Client::makePlace(Nanoseconds now) {
  std::erase_if(cache_, [&](const auto &each) { return !each.second.wanted && now >= each.second.until; });
  if (cache_.size() >= options_.cached) cache_.erase(cache_.begin());
}

} // namespace downbeat::gateway
