// SPDX-License-Identifier: BSD-2-Clause-Patent
// The far ends of all connections: they accept what the core opens, and make the frames that a measurement asks for.
#pragma once

#include <deque>
#include <optional>

#include "lib/packets/packet.h"

namespace latency {

using fuzz::Bytes;
using fuzz::View;

inline constexpr fuzz::Station coreStation{{2, 0, 0, 0, 0, 1}, 0x0a000001}, peerStation{{2, 0, 0, 0, 0, 2}, 0x0a000002};

constexpr std::uint64_t numberOf(const fuzz::Mac &mac) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : mac) number = number << 8 | byte;
  return number;
}

class Peer {
public:
  /// Each connection announces this MSS and always this window, bytes.
  Peer(unsigned connections, std::uint16_t mss, std::uint16_t window);

  static std::uint16_t portOf(unsigned connection) { return static_cast<std::uint16_t>(firstPort + connection); }

  /// New data that a frame of the core's brought, by its place in the connection's stream.
  struct Data {
    unsigned connection;
    std::uint64_t position;
    std::size_t length;
  };
  std::optional<Data> take(View frame);

  /// The answer to a SYN, if one is due.
  std::optional<Bytes> handshake();
  /// All that has come is acknowledged.
  Bytes acknowledge(unsigned connection) const;
  /// So many bytes more of our stream, with the acknowledgment that stands.
  Bytes data(unsigned connection, std::size_t length);
  std::uint64_t received(unsigned connection) const { return connections_[connection].received; }

private:
  static constexpr unsigned firstPort = 5000;
  static constexpr std::uint32_t initialSequence = 1'000'000;
  struct Connection {
    fuzz::Tuple tuple;
    std::uint32_t coreInitial = 0;
    std::uint64_t sent = 0, received = 0;
  };
  Bytes segment(const Connection &connection, std::uint8_t flags, std::uint32_t sequence, View options,
                View payload) const;

  std::vector<Connection> connections_;
  std::deque<unsigned> syns_;
  std::uint16_t mss_, window_;
};

} // namespace latency
