// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "peer.h"

#include <stdexcept>

namespace latency {

Peer::Peer(unsigned connections, std::uint16_t mss, std::uint16_t window)
    : connections_(connections), mss_(mss), window_(window) {}

std::optional<Peer::Data> Peer::take(View frame) {
  const fuzz::Segment got = fuzz::segmentOf(frame);
  const unsigned number = got.tuple.localPort - firstPort; // the sender of `got` is the core
  if (number >= connections_.size()) throw std::runtime_error("the core sent a segment to a port that nobody gave it");
  Connection &connection = connections_[number];
  if ((got.flags & fuzz::flag::rst) != 0) throw std::runtime_error("the core reset a connection");
  if ((got.flags & fuzz::flag::syn) != 0) {
    connection.tuple = {peerStation.ip, portOf(number), got.tuple.remotePort};
    connection.coreInitial = got.sequence;
    syns_.push_back(number);
    return std::nullopt;
  }
  if (got.payload.empty()) return std::nullopt;
  const std::uint32_t ahead =
      got.sequence - (connection.coreInitial + 1 + static_cast<std::uint32_t>(connection.received));
  if (ahead != 0) throw std::runtime_error("the core sent data twice or left some out, though nothing was lost");
  const Data data{number, connection.received, got.payload.size()};
  connection.received += data.length;
  return data;
}

Bytes Peer::segment(const Connection &connection, std::uint8_t flags, std::uint32_t sequence, View options,
                    View payload) const {
  const std::uint32_t acknowledgment = connection.coreInitial + 1 + static_cast<std::uint32_t>(connection.received);
  return fuzz::frameOf({connection.tuple, sequence, acknowledgment, flags, window_, options, payload}, peerStation,
                       coreStation);
}

std::optional<Bytes> Peer::handshake() {
  if (syns_.empty()) return std::nullopt;
  const Connection &connection = connections_[syns_.front()];
  syns_.pop_front();
  const std::array<std::uint8_t, 4> mssOption{2, 4, static_cast<std::uint8_t>(mss_ >> 8),
                                              static_cast<std::uint8_t>(mss_)};
  return segment(connection, fuzz::flag::syn | fuzz::flag::ack, initialSequence, mssOption, {});
}

Bytes Peer::acknowledge(unsigned number) const {
  const Connection &connection = connections_[number];
  return segment(connection, fuzz::flag::ack, initialSequence + 1 + static_cast<std::uint32_t>(connection.sent), {},
                 {});
}

Bytes Peer::data(unsigned number, std::size_t length) {
  Connection &connection = connections_[number];
  const std::uint32_t sequence = initialSequence + 1 + static_cast<std::uint32_t>(connection.sent);
  connection.sent += length;
  const Bytes payload(length, static_cast<std::uint8_t>(number));
  return segment(connection, fuzz::flag::ack | fuzz::flag::psh, sequence, {}, payload);
}

} // namespace latency
