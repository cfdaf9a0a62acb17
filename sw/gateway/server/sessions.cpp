// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "sessions.h"

#include <algorithm>

namespace downbeat::gateway {
namespace {

constexpr Nanoseconds idle = 600 * second; // after that a reporter makes place for another, if there is none left
constexpr std::size_t offered = 256;       // hellos of one reporter that are remembered

} // namespace

std::variant<std::uint64_t, Refusal> Sessions::open(std::uint32_t number, std::uint64_t nonce, Nanoseconds now) {
  if (!reporters_.contains(number) && reporters_.size() >= limits_.reporters) forgetIdle(now);
  if (!reporters_.contains(number) && reporters_.size() >= limits_.reporters) return Refusal::rateLimited;
  Reporter &reporter = reporters_[number];
  counters_.reporters.set(reporters_.size());
  const auto refuse = [&](Refusal cause) {
    ++reporter.refused;
    return cause;
  };
  if (std::ranges::find(reporter.offers, nonce, &Reporter::Offer::nonce) != reporter.offers.end())
    return refuse(Refusal::replayed);
  if (!reporter.hellos.take(limits_.hellos, now)) return refuse(Refusal::rateLimited);
  reporter.seen = now;
  if (reporter.offers.size() >= offered) reporter.offers.pop_front();
  return reporter.offers.emplace_back(nonce, random_()).token;
}

std::variant<Reporter *, Refusal> Sessions::take(const Header &header, std::size_t items, Nanoseconds now) {
  const auto found = reporters_.find(header.reporter);
  if (found == reporters_.end()) return Refusal::unknownSession;
  Reporter &reporter = found->second;
  auto &sessions = reporter.sessions;
  const auto current = std::ranges::find(sessions, header.session, &Reporter::Session::token);
  const auto offer =
      current != sessions.end() ? reporter.offers.end() : std::ranges::find_if(reporter.offers, [&](const auto &each) {
        return each.token == header.session && !each.taken;
      });
  const auto refuse = [&](Refusal cause) {
    ++reporter.refused;
    return cause;
  };
  if (current == sessions.end() && offer == reporter.offers.end()) return refuse(Refusal::unknownSession);
  // The limit comes first: a message that is over it does not count as seen, and may come again.
  const double cost = std::min(static_cast<double>(items), limits_.messages.burst);
  if (!reporter.messages.take(limits_.messages, now, cost)) return refuse(Refusal::rateLimited);
  Reporter::Session fresh;
  fresh.token = header.session;
  Reporter::Session &used = current != sessions.end() ? *current : fresh;
  if (const auto cause = used.window.take(header.sequence)) return refuse(*cause);
  if (used.delay.late(header.stamp, now, limits_.delay)) return refuse(Refusal::stale);
  reporter.seen = now;
  if (current == sessions.end()) {
    offer->taken = true;
    start(reporter, fresh);
  } else if (current != sessions.begin()) {
    sessions.splice(sessions.begin(), sessions, current);
  }
  return &reporter;
}

void Sessions::start(Reporter &reporter, const Reporter::Session &session) {
  if (reporter.sessions.size() >= limits_.sessions) {
    reporter.sessions.pop_back();
    counters_.evictedSessions.add();
    counters_.sessions.add(-1);
  }
  reporter.sessions.push_front(session);
  counters_.sessions.add();
}

void Sessions::forgetIdle(Nanoseconds now) {
  std::erase_if(reporters_, [&](const auto &entry) {
    if (now - entry.second.seen < idle) return false;
    counters_.sessions.add(-std::uint64_t(entry.second.sessions.size()));
    return true;
  });
}

} // namespace downbeat::gateway
