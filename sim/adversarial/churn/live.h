// SPDX-License-Identifier: BSD-2-Clause-Patent
// A live connection over a link with a round-trip time, and whatever else a stranger puts on the same link.
#pragma once

#include <map>

#include "adversarial/core.h"
#include "lib/packets/endpoint.h"

namespace churn {

class Live {
public:
  static constexpr std::uint64_t rate = 1'000'000'000; // b/s, each way

  Live(std::uint64_t seed, downbeat_time roundTrip, const fuzz::Pattern &toCore, const fuzz::Pattern &toPeer);

  /// The core listens on livePort; the peer connects there.
  void open();
  /// One slice of time; `strangers` arrive evenly spread over it.
  void step(const std::vector<fuzz::Bytes> &strangers);
  /// Both ends finish; then every timer runs out and all flows are free.
  void end();
  /// A client like any other: SYN now, after 1 s and after 3 s; its request is 100 bytes, then both close.
  void addClient(std::uint16_t port, std::uint32_t initialSequence);

  fuzz::Core &core() { return core_; }
  const fuzz::Core &core() const { return core_; }
  fuzz::Endpoint &peer() { return peer_; }
  std::uint64_t received() const { return peer_.received(); }
  std::uint64_t bytesToCore() const { return received_; }
  bool clientsDone() const;
  std::size_t clients() const { return clients_.size(); }
  /// The longest time from a client's first SYN to the core's accept.
  downbeat_time slowestConnect() const;

  static constexpr downbeat_time slice = DOWNBEAT_NANOSECONDS(20'000);
  bool sends = true; // the application has always more to send

private:
  struct Client {
    fuzz::Endpoint peer;
    downbeat_time began;
    unsigned syns = 0;
    downbeat_time connected = 0;
    downbeat_sim_connection name = 0;
    bool closed = false;
  };
  void application();
  void serve(Client &client);

  fuzz::Core core_;
  downbeat_time roundTrip_;
  const fuzz::Pattern &toCore_, &toPeer_;
  fuzz::Endpoint peer_;
  downbeat_sim_connection name_ = 0;
  std::uint64_t sent_ = 0, received_ = 0;
  std::map<std::uint16_t, Client> clients_; // by their port
};

} // namespace churn
