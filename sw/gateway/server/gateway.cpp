// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "gateway.h"

namespace downbeat::gateway {

Gateway::Gateway(Keys keys, const Limits &limits, const StoreLimits &store, Sessions::Random random, Counters &counters)
    : keys_(std::move(keys)),
      limits_(limits),
      counters_(counters),
      sessions_(limits_, std::move(random), counters),
      store_(store, counters) {}

void Gateway::receive(Bytes datagram, Bytes source, Nanoseconds now, std::vector<std::uint8_t> &out) {
  counters_.received.add();
  if (const auto cause = take(datagram, source, now, out)) counters_.refuse(*cause);
}

std::optional<Refusal> Gateway::take(Bytes datagram, Bytes source, Nanoseconds now, std::vector<std::uint8_t> &out) {
  const auto decoded = decodeHeader(datagram);
  if (const auto *cause = std::get_if<Refusal>(&decoded)) return *cause;
  const Header &header = std::get<Header>(decoded);
  if (header.type != Type::hello && header.type != Type::report && header.type != Type::query)
    return Refusal::wrongType;

  const auto found = keys_.of(header.key, header.reporter);
  if (const auto *cause = std::get_if<Refusal>(&found)) return *cause;
  const Key key = std::get<Key>(found);
  if (!tagFits(key, datagram)) return Refusal::forged;
  keys_.keep(header.key, header.reporter, key);

  const auto body = decodeBody(header, datagram.subspan(headerBytes, datagram.size() - headerBytes - tagBytes));
  if (const auto *cause = std::get_if<Refusal>(&body)) return *cause;
  const Message &message = std::get<Message>(body);

  Message response{.header = header};
  if (header.type == Type::hello) {
    response.value = message.value;
    if (!cookies_.fits(message.token, header.reporter, message.value, source, now)) {
      counters_.challenges.add();
      response.header.type = Type::challenge;
      response.token = cookies_.make(header.reporter, message.value, source, now);
      reply(response, key, out);
      return std::nullopt;
    }
    const auto session = sessions_.open(header, message.value, now);
    if (const auto *cause = std::get_if<Refusal>(&session)) return *cause;
    counters_.hellos.add();
    response.header.type = Type::welcome;
    response.token = std::get<std::uint64_t>(session);
    reply(response, key, out);
    return std::nullopt;
  }

  const auto taken = sessions_.take(header, message.reports.size() + message.queries.size(), now);
  if (const auto *cause = std::get_if<Refusal>(&taken)) {
    if (*cause == Refusal::unknownSession) { // the host must learn of it, and it alone has this key
      response.header.type = Type::refusal;
      response.value = static_cast<std::uint64_t>(*cause);
      reply(response, key, out);
    }
    return *cause;
  }
  Reporter &reporter = *std::get<Reporter *>(taken);
  if (header.type == Type::report) {
    counters_.reports.add();
    counters_.reportItems.add(message.reports.size());
    reporter.reports += message.reports.size();
    for (const Report &report : message.reports) store_.add(header.reporter, report, now);
    if (relay_) relay_(header.reporter, message.reports, now);
    return std::nullopt;
  }
  counters_.queries.add();
  counters_.queryItems.add(message.queries.size());
  reporter.queries += message.queries.size();
  response.header.type = Type::response;
  for (const Prefix &prefix : message.queries) {
    response.responses.push_back(store_.request(prefix, now));
    (response.responses.back().known() ? counters_.responsesKnown : counters_.responsesUnknown).add();
  }
  reply(response, key, out);
  return std::nullopt;
}

void Gateway::replaceKeys(Keys keys) {
  keys_ = std::move(keys);
  forgetDenied();
}

void Gateway::forgetDenied() {
  for (std::uint32_t reporter : keys_.denied()) {
    sessions_.forget(reporter);
    store_.forget(reporter);
  }
}

void Gateway::relayed(const Message &message, bool again, Nanoseconds now) {
  if (!store_.counted().take(message.header.session, message.header.sequence)) {
    if (!again) counters_.relayRefused.add();
    return;
  }
  counters_.relayTaken.add(message.reports.size());
  for (const Report &report : message.reports)
    store_.add(message.header.reporter, report, now, Nanoseconds(message.age) * millisecond);
}

void Gateway::reply(const Message &message, const Key &key, std::vector<std::uint8_t> &out) {
  const std::size_t begin = out.size();
  encode(message, out);
  appendTag(key, out, begin);
}

} // namespace downbeat::gateway
