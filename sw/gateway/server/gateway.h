// SPDX-License-Identifier: BSD-2-Clause-Patent
// The gateway without sockets, clock or files: a datagram and the time come in, at most one datagram goes out.
#pragma once

#include <functional>
#include <vector>

#include "cookie.h"
#include "server/store/store.h"
#include "sessions.h"
#include "wire/keys.h"
#include "wire/message.h"

namespace downbeat::gateway {

class Gateway {
public:
  /// `relay` sees each accepted report, for the site's other gateways.
  using Relay = std::function<void(std::uint32_t reporter, const std::vector<Report> &reports, Nanoseconds now)>;

  Gateway(Keys keys, const Limits &limits, const StoreLimits &store, Sessions::Random random, Counters &counters);
  Gateway(const Gateway &) = delete; // sessions refer to the limits

  /// Takes one datagram and appends the response to `out`, if there is one. Anything that is refused changes nothing
  /// but the counter of its cause (and, once its tag is known to fit, the sender's own limits). `source`: its address.
  void receive(Bytes datagram, Bytes source, Nanoseconds now, std::vector<std::uint8_t> &out);

  /// Reports that another gateway of this site has accepted; `again`: they may be known from before this gateway began.
  void relayed(const Message &message, bool again, Nanoseconds now);

  void onReport(Relay relay) { relay_ = std::move(relay); }
  /// Forgets denied reporters with what they have said.
  void replaceKeys(Keys keys);
  void forgetDenied();
  void expire(Nanoseconds now) { sessions_.expire(now); }

  const Keys &keys() const { return keys_; }
  const Sessions &sessions() const { return sessions_; }
  Store &store() { return store_; }

private:
  std::optional<Refusal> take(Bytes datagram, Bytes source, Nanoseconds now, std::vector<std::uint8_t> &out);
  void reply(const Message &message, const Key &key, std::vector<std::uint8_t> &out);

  Keys keys_;
  Limits limits_;
  Counters &counters_;
  Cookies cookies_;
  Sessions sessions_;
  Store store_;
  Relay relay_;
};

} // namespace downbeat::gateway
