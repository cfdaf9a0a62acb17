// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "fuzzer.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include "lib/packets/stations.h"

namespace fuzz {

namespace {

constexpr std::uint64_t epochMutants = 5000; // after so many the core comes to rest and is looked at
constexpr std::size_t victimsAtOnce = 6, liveConnections = 2; // the live ones are the first
/// Ten of the core's smallest retransmission timeouts, fifty thousand of an Endpoint's: the live streams cannot need
/// longer.
constexpr downbeat_time timeLimit = 10 * second;
constexpr downbeat_time afterTimeWait = 61 * second;

} // namespace

Fuzzer::Fuzzer(std::uint64_t seed, const std::string &waves)
    : seed_(seed),
      draw_(seed),
      toCore_(seed ^ 1),
      toPeer_(seed ^ 2),
      mutator_({livePort, victimPort}),
      core_(seed, linkRate, 0, static_cast<std::uint32_t>(seed + 1)) {
  if (!waves.empty() && downbeat_sim_waves(core_.device(), waves.c_str()) != DOWNBEAT_OK)
    throw Failure("waves: cannot be written");
  while (std::string_view(downbeat_sim_event_text(segmentEvent_)) != "segment") ++segmentEvent_;
  downbeat_sim_set_event_callback(
      core_.device(),
      [](void *self, const downbeat_event *event) {
        auto &fuzzer = *static_cast<Fuzzer *>(self);
        fuzzer.segmentEvents_ += event->kind == fuzzer.segmentEvent_;
        const std::string_view kind = downbeat_sim_event_text(event->kind);
        fuzzer.reportEvents_ += kind == "unreachable" || kind == "tooBig";
      },
      this);
}

Fuzzer::~Fuzzer() = default;

void Fuzzer::run(std::uint64_t frames) {
  openLive();
  slotBurstAtStart_ = slotBurst();
  while (mutants_ < frames) epoch(std::min(frames, mutants_ + epochMutants));
  finish();
}

// ---- the phases

void Fuzzer::openLive() {
  for (const std::uint16_t port : {livePort, victimPort})
    if (downbeat_sim_listen(core_.device(), port, nullptr) != DOWNBEAT_OK) throw Failure("listen");
  core_.addNeighbours();
  wait(now() + 10 * microsecond);
  auto active = std::make_unique<Connection>(), passive = std::make_unique<Connection>();
  active->endpoint =
      std::make_unique<Endpoint>(livePeer, core, Tuple{livePeer.ip, 5001, 0}, draw_.word(), toCore_, toPeer_);
  passive->endpoint =
      std::make_unique<Endpoint>(livePeer, core, Tuple{livePeer.ip, 6001, livePort}, draw_.word(), toCore_, toPeer_);
  active->live = passive->live = true;
  passive->endpoint->connect();
  if (downbeat_sim_connect(core_.device(), livePeer.ip, 5001, 0, nullptr, &active->name) != DOWNBEAT_OK)
    throw Failure("connect");
  connections_.push_back(std::move(active));
  connections_.push_back(std::move(passive));
  const downbeat_time end = now() + timeLimit;
  const auto open = [](const auto &connection) { return connection->endpoint->established() && connection->name != 0; };
  while (!std::ranges::all_of(connections_, open)) {
    if (now() > end) throw Failure("the live connections do not open");
    step(0);
  }
}

void Fuzzer::epoch(std::uint64_t end) {
  while (mutants_ < end) {
    if (connections_.size() < liveConnections + victimsAtOnce && draw_.chance(20)) addVictim();
    step(static_cast<unsigned>(std::min<std::uint64_t>(end - mutants_, draw_.between(16, 96))));
  }
  settle();
  ++epochs_;
}

/// Ends all that may be ended and looks whether the core is as it was.
void Fuzzer::settle() {
  const auto quiet = [](const auto &connection) {
    return connection->endpoint->settled() && connection->endpoint->received() == connection->sent &&
           connection->received == connection->endpoint->acknowledged();
  };
  const downbeat_time end = now() + timeLimit;
  resting_ = true;
  while (!std::ranges::all_of(connections_ | std::views::take(liveConnections), quiet)) {
    if (now() > end) throw Failure("hang: a live stream does not come to its end within ten timeouts");
    step(0);
    wait(now() + Endpoint::timeout / 4);
  }
  cleaning_ = true;
  for (std::size_t i = liveConnections; i < connections_.size(); ++i)
    if (connections_[i]->name != 0) downbeat_sim_abort(core_.device(), connections_[i]->name);
  connections_.resize(liveConnections);
  application(); // connections accepted since
  drain();
  for (const auto &[tuple, numbers] : std::exchange(heard_, {}))
    put(frameOf({tuple, numbers.expected, 0, flag::rst, 0, {}, {}}, {victim.mac, tuple.remoteIp}, core), false, now());
  wait(now() + afterTimeWait);
  fillBuckets();
  floodStateless();
  floodControl();
  wait(now() + Endpoint::timeout);
  heard_.clear();
  checkAccounts();
  checkFlows();
  if (const std::uint64_t refused = slotBurst(); refused != slotBurstAtStart_)
    throw Failure("payload slots are lost: a burst finds none " + std::to_string(refused) + " times, at the start " +
                  std::to_string(slotBurstAtStart_));
  cleaning_ = resting_ = false;
}

void Fuzzer::finish() {
  resting_ = true;
  for (auto &connection : connections_) {
    connection->endpoint->finish();
    downbeat_sim_shutdown(core_.device(), connection->name);
  }
  const auto over = [](const auto &connection) {
    return connection->endpoint->settled() && connection->endpoint->peerFinished();
  };
  for (const downbeat_time end = now() + timeLimit; !std::ranges::all_of(connections_, over);) {
    if (now() > end) throw Failure("the live connections do not close");
    step(0);
    wait(now() + Endpoint::timeout / 4);
  }
  for (const auto &connection : connections_) liveFromCore_ += connection->endpoint->received();
  for (auto &connection : connections_) downbeat_sim_close(core_.device(), connection->name);
  connections_.clear();
  cleaning_ = true;
  wait(now() + afterTimeWait);
  checkFlows();
  checkFlows();
  checkAccounts();
  const Counters counted = counters();
  for (const auto &[name, count] : counted) {
    const bool ofFrames =
        name.starts_with("receive_") || name.starts_with("directory_") || name.starts_with("neighbour_");
    // The first is the application's; the directory takes reports faster than a wire brings them.
    if (name == "neighbour_staticNoPlace" || name == "neighbour_icmpErrorOverflow") continue;
    // More closed connections than the table has places cause it; and a segment while one is there.
    if (name == "directory_timeWaitsGivenUp" || name == "directory_timeWaitSegments") continue;
    // Only who has got a cookie causes these.
    if (name == "directory_cookiesAccepted" || name == "directory_synNoFlow" || name == "directory_synNoBucket")
      continue;
    if (ofFrames && count == 0 && mutants_ >= 2 * epochMutants) // fewer may miss a rare one
      throw Failure("no frame was ever dropped as " + name);
  }
  // No frame may bring the application's side or the stamps out of step.
  for (const char *name : {"staleStamps", "sendOverruns", "receiveUnderruns", "unknownCommands"})
    expectCount(counted, name, 0);
}

} // namespace fuzz
