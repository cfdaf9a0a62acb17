// SPDX-License-Identifier: BSD-2-Clause-Patent
// The application at the core's side: of the live connections as it should be, of the others as it likes.
#include <algorithm>

#include "fuzzer.h"
#include "lib/packets/stations.h"

namespace fuzz {

namespace {

constexpr std::uint64_t liveAhead = 6000; // bytes that a live stream may have on its way

} // namespace

void Fuzzer::application() {
  for (const std::uint16_t port : {livePort, victimPort}) {
    for (downbeat_sim_connection name; downbeat_sim_accept(core_.device(), port, &name) == DOWNBEAT_OK;) {
      downbeat_sim_info info{};
      downbeat_sim_connection_info(core_.device(), name, &info);
      ++established_;
      Connection *connection = find({info.remote_ip, info.remote_port, info.local_port});
      if (connection == nullptr || connection->name != 0) {
        connection = connections_.emplace_back(std::make_unique<Connection>()).get();
        connection->fate = static_cast<unsigned>(draw_.below(5));
      }
      connection->name = name;
      if (cleaning_) downbeat_sim_abort(core_.device(), name), connection->name = 0;
    }
  }
  for (auto &connection : connections_) connection->live ? serveLive(*connection) : serveOther(*connection);
  std::erase_if(connections_, [](const auto &connection) {
    return !connection->live && connection->name == 0 &&
           (connection->endpoint == nullptr || connection->endpoint->dead());
  });
}

void Fuzzer::serveLive(Connection &connection) {
  Endpoint &peer = *connection.endpoint;
  if (!peer.failure().empty()) throw Failure(peer.failure());
  if (peer.dead()) throw Failure("a live connection was reset by the core");
  if (!peer.established() || connection.name == 0) return;
  downbeat_sim_info info{};
  downbeat_sim_connection_info(core_.device(), connection.name, &info);
  if (info.error != 0) throw Failure(std::string("a live connection ended: ") + downbeat_error_text(info.error));
  Bytes buffer(Pattern::longest);
  for (std::int64_t length;
       (length = downbeat_sim_receive(core_.device(), connection.name, buffer.data(), buffer.size())) > 0;) {
    const auto count = static_cast<std::size_t>(length);
    if (!std::ranges::equal(View(buffer).first(count), toCore_.from(connection.received, count)))
      throw Failure("the application received a wrong byte behind position " + std::to_string(connection.received));
    connection.received += count;
    liveToCore_ += count;
  }
  if (resting_ || mutants_ == 0) return;
  if (connection.sent - peer.received() < liveAhead && draw_.chance(50)) {
    const View data = toPeer_.from(connection.sent, draw_.between(1, 1500));
    const std::int64_t taken = downbeat_sim_send(core_.device(), connection.name, data.data(), data.size());
    if (taken > 0) connection.sent += static_cast<std::uint64_t>(taken);
  }
  if (peer.settled() && draw_.chance(50)) peer.offer(draw_.between(1, 1500));
}

void Fuzzer::serveOther(Connection &connection) {
  if (Endpoint *peer = connection.endpoint.get()) {
    if (peer->established() && draw_.chance(20)) peer->offer(draw_.between(1, 300));
    if (draw_.chance(1)) peer->finish();
  }
  if (connection.name == 0) return;
  Bytes buffer(4096);
  std::int64_t length = DOWNBEAT_WOULD_BLOCK;
  if (connection.fate != 0)
    length = downbeat_sim_receive(core_.device(), connection.name, buffer.data(), buffer.size());
  if (connection.fate == 1 && draw_.chance(30))
    downbeat_sim_send(core_.device(), connection.name, buffer.data(), draw_.between(1, 300));
  if (connection.fate == 2 && draw_.chance(5)) downbeat_sim_shutdown(core_.device(), connection.name);
  downbeat_sim_info info{};
  downbeat_sim_connection_info(core_.device(), connection.name, &info);
  const bool over = info.error != 0 || length == 0;
  if (!over && !draw_.chance(connection.fate >= 3 ? 4 : 1)) return;
  connection.fate == 4 ? downbeat_sim_abort(core_.device(), connection.name)
                       : downbeat_sim_close(core_.device(), connection.name);
  connection.name = 0;
}

Fuzzer::Connection *Fuzzer::find(const Tuple &tuple) {
  const auto found = std::ranges::find_if(connections_, [&](const auto &connection) {
    if (connection->endpoint == nullptr) return false;
    Tuple own = connection->endpoint->tuple();
    if (own.localPort == 0) own.localPort = tuple.localPort;
    return own == tuple;
  });
  return found == connections_.end() ? nullptr : found->get();
}

} // namespace fuzz
