// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "sessions.h"

#include <algorithm>

#include "cookie.h"

namespace downbeat::gateway {
namespace {

constexpr Nanoseconds idle = 600 * second;      // after that a session and a reporter are forgotten
constexpr std::size_t maxWelcomed = 1024;       // hellos of one reporter while their cookies live
constexpr std::size_t nodeBytes = 48;           // a list's or table's node, with the allocator's header
constexpr std::size_t reporterBytes = sizeof(Reporter) + nodeBytes;
constexpr std::size_t sessionBytes = sizeof(Reporter::Session) + sizeof(Reporter::Hello) + nodeBytes;

} // namespace

std::variant<std::uint64_t, Refusal> Sessions::open(const Header &header, std::uint64_t nonce, Nanoseconds now) {
  const auto there = [&] { return reporters_.contains(header.reporter); };
  if (!there() && (reporters_.size() >= limits_.reporters || full())) expire(now);
  if (!there() && (reporters_.size() >= limits_.reporters || full())) return Refusal::rateLimited;
  Reporter &reporter = reporters_[header.reporter];
  const auto refuse = [&](Refusal cause) {
    ++reporter.refused;
    return cause;
  };
  std::erase_if(reporter.welcomed, [&](const auto &each) { return now - each.at > Cookies::life; });
  if (std::ranges::find(reporter.welcomed, nonce, &Reporter::Hello::nonce) != reporter.welcomed.end())
    return refuse(Refusal::replayed);
  if (reporter.welcomed.size() >= maxWelcomed || !reporter.hellos.take(limits_.hellos, now))
    return refuse(Refusal::rateLimited);
  if (reporter.sessions.size() >= limits_.sessions || (full() && !reporter.sessions.empty())) {
    end(reporter);
    counters_.evictedSessions.add();
  }
  reporter.seen = now;
  reporter.welcomed.push_back({nonce, now});
  Reporter::Session &session = reporter.sessions.emplace_front();
  session.token = random_();
  session.seen = now;
  session.delay.late(header.stamp, now, limits_.delay); // from the hello on
  ++sessions_;
  count();
  return session.token;
}

std::variant<Reporter *, Refusal> Sessions::take(const Header &header, std::size_t items, Nanoseconds now) {
  const auto found = reporters_.find(header.reporter);
  if (found == reporters_.end()) return Refusal::unknownSession;
  Reporter &reporter = found->second;
  auto &sessions = reporter.sessions;
  const auto session = std::ranges::find(sessions, header.session, &Reporter::Session::token);
  const auto refuse = [&](Refusal cause) {
    ++reporter.refused;
    return cause;
  };
  if (session == sessions.end() || now - session->seen > idle) return refuse(Refusal::unknownSession);
  // The limit comes first: a message that is over it does not count as seen, and may come again.
  const double cost = std::min(static_cast<double>(items), limits_.messages.burst);
  if (!reporter.messages.take(limits_.messages, now, cost)) return refuse(Refusal::rateLimited);
  if (const auto cause = session->window.take(header.sequence)) return refuse(*cause);
  if (session->delay.late(header.stamp, now, limits_.delay)) return refuse(Refusal::stale);
  reporter.seen = session->seen = now;
  sessions.splice(sessions.begin(), sessions, session);
  return &reporter;
}

void Sessions::expire(Nanoseconds now) {
  for (auto each = reporters_.begin(); each != reporters_.end();) {
    Reporter &reporter = each->second;
    while (!reporter.sessions.empty() && now - reporter.sessions.back().seen > idle) end(reporter);
    std::erase_if(reporter.welcomed, [&](const auto &hello) { return now - hello.at > Cookies::life; });
    reporter.welcomed.shrink_to_fit();
    each = reporter.sessions.empty() && now - reporter.seen > idle ? reporters_.erase(each) : std::next(each);
  }
  count();
}

void Sessions::forget(std::uint32_t number) {
  const auto found = reporters_.find(number);
  if (found == reporters_.end()) return;
  while (!found->second.sessions.empty()) end(found->second);
  reporters_.erase(found);
  count();
}

bool Sessions::full() const {
  return reporters_.size() * reporterBytes + (sessions_ + 1) * sessionBytes > limits_.bytes;
}

void Sessions::end(Reporter &reporter) {
  reporter.sessions.pop_back();
  --sessions_;
}

void Sessions::count() {
  counters_.reporters.set(reporters_.size());
  counters_.sessions.set(sessions_);
}

} // namespace downbeat::gateway
