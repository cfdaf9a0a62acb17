// SPDX-License-Identifier: BSD-2-Clause-Patent
// Connections that send as fast as the engine lets them: peer, application, pacer, MAC and timers are quicker than it
// is.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "module.h"
#include "turn.h"

namespace events {

/// Parameters of an open.
struct Policies {
  unsigned startup, steady;
  std::array<std::uint32_t, 4> startupArgument, steadyArgument; // least significant first
  std::uint32_t ssthresh;                                       // bytes
};

class Sending : public Load {
public:
  /// One connection for each of `policies`.
  Sending(Order order, const std::vector<Policies> &policies, std::uint64_t seed);

  bool offer(Port port, Pins &pins, std::uint64_t now) override;
  void see(const Pins &pins, std::uint64_t now) override;
  bool allEstablished() const;

  std::uint64_t segments = 0, retransmissions = 0;

private:
  struct Departure {
    std::uint32_t end;
    std::uint64_t stamp;
  };

  struct Connection {
    Policies policies;
    std::uint32_t initial; // our initial sequence number
    bool opened = false, synSeen = false, acknowledging = false, established = false, booked = false;
    std::uint32_t departed, acknowledged, reported,
        written; // the end of what has departed, SND.UNA as traced, the last ACK's, the end of what is written
    unsigned repeats = 0;                            // duplicate ACKs to come
    bool wide = false;                               // the larger of two windows
    std::deque<Departure> departures{};              // to come
  };

  bool says(Port port, unsigned flow, Pins &pins, std::uint64_t now);
  bool directorySays(Connection &connection, unsigned flow, Pins &pins, std::uint64_t now);
  void open(const Connection &connection, Pins &pins);
  bool departs(Connection &connection, unsigned flow, Pins &pins);

  std::vector<Connection> connections_;
  std::vector<Turn> turns_;
  fuzz::Draw draw_;
};

} // namespace events
