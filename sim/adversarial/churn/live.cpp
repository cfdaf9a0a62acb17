// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "live.h"

#include <algorithm>

#include "lib/packets/stations.h"

namespace churn {

using namespace fuzz;

namespace {

constexpr std::uint16_t livePeerPort = 6001;
constexpr std::uint32_t staging = 256 * 1024;
constexpr downbeat_time timeLimit = 30 * second;
constexpr downbeat_time synTimes[] = {0, second, 3 * second}; // RFC 6298: 1 s, then twice as long

} // namespace

Live::Live(std::uint64_t seed, downbeat_time roundTrip, const Pattern &toCore, const Pattern &toPeer)
    : core_(seed, rate, staging),
      roundTrip_(roundTrip),
      toCore_(toCore),
      toPeer_(toPeer),
      peer_(livePeer, fuzz::core, {livePeer.ip, livePeerPort, livePort}, static_cast<std::uint32_t>(seed * 0x9e3779b9),
            toCore, toPeer) {}

void Live::open() {
  core_.addNeighbours();
  core_.listen(livePort);
  peer_.connect();
  for (const downbeat_time end = core_.now() + timeLimit; !peer_.established() || name_ == 0;) {
    if (core_.now() > end) throw Failure("the live connection does not open");
    step({});
  }
}

void Live::step(const std::vector<Bytes> &strangers) {
  const downbeat_time start = core_.now();
  application();
  std::vector<std::pair<downbeat_time, Bytes>> arrivals;
  for (std::size_t i = 0; i < strangers.size(); ++i)
    arrivals.emplace_back(start + roundTrip_ + slice * i / strangers.size(), strangers[i]);
  const auto place = [&](std::vector<Bytes> &&frames) {
    downbeat_time arrival = start + roundTrip_;
    for (Bytes &frame : frames) {
      const std::size_t length = frame.size();
      arrivals.emplace_back(arrival, std::move(frame));
      arrival += DOWNBEAT_NANOSECONDS((length + 24) * 8);
    }
  };
  std::vector<Bytes> frames;
  peer_.send(frames, start, 1460, 1);
  place(std::move(frames));
  for (auto &[port, client] : clients_) {
    serve(client);
    std::vector<Bytes> more;
    if (client.peer.established())
      client.peer.send(more, start, 1460, 1);
    else if (client.syns < std::size(synTimes) && start >= client.began + synTimes[client.syns])
      client.peer.send(more, start, 1460, 1), ++client.syns;
    place(std::move(more));
  }
  std::ranges::stable_sort(arrivals, {}, &std::pair<downbeat_time, Bytes>::first);
  for (const auto &[time, frame] : arrivals) core_.put(frame, time);
  core_.advance(start + slice);
  for (const Bytes &frame : core_.collect()) {
    const Layout at(frame);
    if (!at.hasTcp) continue;
    const Segment said = segmentOf(frame);
    const std::uint32_t to = read32(frame, at.ip + 16);
    const std::uint16_t port = said.tuple.localPort; // the receiver's; the other is the core's
    if (said.tuple.remotePort != livePort) continue;
    if (to == livePeer.ip && port == livePeerPort)
      peer_.receive(frame, core_.now());
    else if (const auto client = clients_.find(port); to == victim.ip && client != clients_.end())
      client->second.peer.receive(frame, core_.now());
  }
}

void Live::application() {
  for (downbeat_sim_connection name; downbeat_sim_accept(core_.device(), livePort, &name) == DOWNBEAT_OK;) {
    downbeat_sim_info info{};
    downbeat_sim_connection_info(core_.device(), name, &info);
    if (info.remote_ip == livePeer.ip && info.remote_port == livePeerPort) {
      name_ = name;
    } else if (const auto client = clients_.find(info.remote_port);
               info.remote_ip == victim.ip && client != clients_.end()) {
      client->second.name = name;
      client->second.connected = core_.now();
    } else {
      throw Failure("a stranger's connection was established");
    }
  }
  if (!peer_.failure().empty()) throw Failure(peer_.failure());
  if (peer_.dead()) throw Failure("the live connection was reset by the core");
  if (name_ == 0) return;
  downbeat_sim_info info{};
  downbeat_sim_connection_info(core_.device(), name_, &info);
  if (info.error != 0) throw Failure(std::string("the live connection ended: ") + downbeat_error_text(info.error));
  Bytes buffer(Pattern::longest);
  for (std::int64_t length; (length = downbeat_sim_receive(core_.device(), name_, buffer.data(), buffer.size())) > 0;) {
    const auto count = static_cast<std::size_t>(length);
    if (!std::ranges::equal(View(buffer).first(count), toCore_.from(received_, count)))
      throw Failure("the application received a wrong byte behind position " + std::to_string(received_));
    received_ += count;
  }
  while (sends) {
    const View data = toPeer_.from(sent_, 16384);
    const std::int64_t taken = downbeat_sim_send(core_.device(), name_, data.data(), data.size());
    if (taken <= 0) return;
    sent_ += static_cast<std::uint64_t>(taken);
  }
}

void Live::serve(Client &client) {
  if (client.peer.dead()) throw Failure("a client was reset");
  if (client.name == 0 || client.closed) return;
  Bytes buffer(4096);
  std::int64_t length;
  while ((length = downbeat_sim_receive(core_.device(), client.name, buffer.data(), buffer.size())) > 0) {}
  if (length != 0) return;
  downbeat_sim_close(core_.device(), client.name);
  client.closed = true;
}

void Live::addClient(std::uint16_t port, std::uint32_t initialSequence) {
  const auto [client, fresh] = clients_.emplace(
      port, Client{Endpoint(victim, fuzz::core, {victim.ip, port, livePort}, initialSequence, toCore_, toPeer_),
                   core_.now()});
  client->second.peer.connect();
  client->second.peer.offer(100);
  client->second.peer.finish();
}

bool Live::clientsDone() const {
  return std::ranges::all_of(clients_,
                             [](const auto &entry) { return entry.second.closed && entry.second.peer.settled(); });
}

downbeat_time Live::slowestConnect() const {
  downbeat_time slowest = 0;
  for (const auto &[port, client] : clients_)
    slowest = std::max(slowest, client.connected == 0 ? DOWNBEAT_NEVER : client.connected - client.began);
  return slowest;
}

void Live::end() {
  sends = false;
  const auto quiet = [&] {
    return peer_.settled() && peer_.received() == sent_ && received_ == peer_.acknowledged() && clientsDone();
  };
  for (const downbeat_time end = core_.now() + timeLimit; !quiet();) {
    if (core_.now() > end) throw Failure("a live stream does not come to its end");
    step({});
  }
  peer_.finish();
  downbeat_sim_shutdown(core_.device(), name_);
  for (const downbeat_time end = core_.now() + timeLimit; !peer_.settled() || !peer_.peerFinished();) {
    if (core_.now() > end) throw Failure("the live connection does not close");
    step({});
  }
  for (int rest = 0; rest < 100; ++rest) step({});
  downbeat_sim_close(core_.device(), name_);
  core_.drain();
  while (core_.nextDeadline() != DOWNBEAT_NEVER) {
    core_.advance(core_.nextDeadline());
    core_.drain();
    core_.collect();
    if (core_.now() > 3600 * second) throw Failure("a timer is armed an hour later");
  }
  core_.checkFlows(0);
  core_.checkFlows(0);
}

} // namespace churn
