// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "sessions.h"

#include <algorithm>

namespace downbeat::gateway {
namespace {

constexpr Nanoseconds idle = 600 * second; // after that a reporter makes place for another, if there is none left

} // namespace

std::variant<std::uint64_t, Refusal> Sessions::open(std::uint32_t number, Nanoseconds now) {
  if (!reporters_.contains(number) && reporters_.size() >= limits_.reporters) forgetIdle(now);
  if (!reporters_.contains(number) && reporters_.size() >= limits_.reporters) return Refusal::rateLimited;
  Reporter &reporter = reporters_[number];
  reporter.seen = now;
  if (!reporter.hellos.take(limits_.hellos, now)) {
    ++reporter.refused;
    return Refusal::rateLimited;
  }
  auto &sessions = reporter.sessions;
  if (sessions.size() >= limits_.sessions) {
    sessions.pop_back();
    counters_.evictedSessions.add();
    counters_.sessions.add(-1);
  }
  sessions.emplace_front().token = random_();
  counters_.sessions.add();
  counters_.reporters.set(reporters_.size());
  return sessions.front().token;
}

std::variant<Reporter *, Refusal> Sessions::take(const Header &header, std::size_t items, Nanoseconds now) {
  const auto found = reporters_.find(header.reporter);
  if (found == reporters_.end()) return Refusal::unknownSession;
  Reporter &reporter = found->second;
  auto &sessions = reporter.sessions;
  const auto current = std::ranges::find(sessions, header.session, &Reporter::Session::token);
  const auto refuse = [&](Refusal cause) {
    ++reporter.refused;
    return cause;
  };
  if (current == sessions.end()) return refuse(Refusal::unknownSession);
  // The limit comes first: a message that is over it does not count as seen, and may come again.
  const double cost = std::min(static_cast<double>(items), limits_.messages.burst);
  if (!reporter.messages.take(limits_.messages, now, cost)) return refuse(Refusal::rateLimited);
  if (const auto cause = current->window.take(header.sequence)) return refuse(*cause);
  if (current->delay.late(header.stamp, now, limits_.delay)) return refuse(Refusal::stale);
  reporter.seen = now;
  if (current != sessions.begin()) sessions.splice(sessions.begin(), sessions, current);
  return &reporter;
}

void Sessions::forgetIdle(Nanoseconds now) {
  std::erase_if(reporters_, [&](const auto &entry) {
    if (now - entry.second.seen < idle) return false;
    counters_.sessions.add(-std::uint64_t(entry.second.sessions.size()));
    return true;
  });
}

} // namespace downbeat::gateway
