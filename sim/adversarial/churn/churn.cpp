// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "churn.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "lib/packets/stations.h"

namespace churn {

using namespace fuzz;

namespace {

constexpr std::uint32_t staging = 1024; // bytes: more than that stays unread in the core
constexpr std::size_t handshakesAtOnce = DOWNBEAT_FLOWS / 2; // with more a SYN gets a cookie (docs/reference/flow.md)
constexpr std::size_t failedAtOnce = handshakesAtOnce / 2;
constexpr downbeat_time timeLimit = 3600 * second; // several times as long as any time-out
constexpr downbeat_time longestLife =
    60 * 3600 * second; // no device may live longer than 78 hours (docs/reference/c-interface.md)
constexpr std::uint64_t maxWaits = 50'000; // in a batch
constexpr std::uint16_t firstLocal = 20000, lastLocal = 30000, firstRemote = 20000, lastRemote = 60000;
constexpr std::size_t longPayload = 1460;
constexpr unsigned slotBurstFrames = 12;
constexpr std::uint64_t rate = 1'000'000'000; // b/s

double hoursOf(downbeat_time time) { return static_cast<double>(time) / 65536e9 / 3600; }

} // namespace

Churn::Churn(std::uint64_t seed)
    : seed_(seed),
      draw_(seed),
      toCore_(seed ^ 1),
      toPeer_(seed ^ 2),
      nextRemote_(firstRemote),
      nextLocal_(firstLocal) {}

void Churn::begin() {
  if (core_ != nullptr) hours_ += hoursOf(core_->now());
  core_ = std::make_unique<Core>(seed_ + cores_++, rate, staging);
  core_->addNeighbours();
  core_->listen(victimPort);
  slotBurstAtStart_ = slotBurst();
}

void Churn::run(std::uint64_t connections) {
  begin();
  std::vector<Plan> each;
  for (const Script &script : failedOpenings()) each.push_back({script.name, script.steps, true});
  for (const Script &opening : openings())
    for (const Script &ending : endings()) each.push_back(planOf(opening, ending));
  for (const Plan &plan : each) {
    if (connections_ == connections) break;
    Batch batch;
    batch.push_back(make(plan));
    runBatch(batch);
    finishBatch(batch);
  }
  while (connections_ < connections) {
    if (core_->now() > longestLife) end(), begin();
    const std::uint64_t size = std::min<std::uint64_t>(draw_.between(1, DOWNBEAT_FLOWS), connections - connections_);
    Batch batch;
    for (std::size_t failed = 0; batch.size() < size;) {
      const Plan plan = drawn(failed < failedAtOnce);
      failed += plan.fails;
      batch.push_back(make(plan));
    }
    runBatch(batch);
    finishBatch(batch);
  }
  end();
}

/// The core has all the resources that it had at the start.
void Churn::end() {
  slotBurstAtEnd_ = slotBurst();
  if (slotBurstAtEnd_ != slotBurstAtStart_)
    throw Failure("payload slots are lost: a burst finds none " + std::to_string(slotBurstAtEnd_) +
                  " times, at the start " + std::to_string(slotBurstAtStart_));
  core_->checkFlows(0);
  core_->checkFlows(0);
  if (core_->nextDeadline() != DOWNBEAT_NEVER) throw Failure("a timer is armed at the end");
}

Churn::Plan Churn::planOf(const Script &opening, const Script &ending) {
  Plan plan{opening.name + " / " + ending.name, opening.steps};
  plan.steps.push_back({Act::send, static_cast<int>(draw_.between(1, 2000))});
  plan.steps.push_back({Act::peerData, static_cast<int>(draw_.between(1, 2000))});
  plan.steps.push_back({Act::delivered});
  plan.steps.insert(plan.steps.end(), ending.steps.begin(), ending.steps.end());
  return plan;
}

Churn::Plan Churn::drawn(bool mayFail) {
  if (mayFail && draw_.chance(15)) {
    const Script &script = draw_.pick(failedOpenings());
    return {script.name, script.steps, true};
  }
  return planOf(draw_.pick(openings()), draw_.pick(endings()));
}

std::unique_ptr<Connection> Churn::make(const Plan &plan) {
  const auto next = [](std::uint16_t &port, std::uint16_t first, std::uint16_t last) {
    const std::uint16_t taken = port;
    port = port == last ? first : static_cast<std::uint16_t>(port + 1);
    return taken;
  };
  const bool active = std::ranges::any_of(plan.steps, [](const Step &step) { return step.act == Act::connect; });
  const Tuple tuple{victim.ip, next(nextRemote_, firstRemote, lastRemote),
                    active ? next(nextLocal_, firstLocal, lastLocal) : victimPort};
  ++connections_;
  ++pairs_[plan.name];
  return std::make_unique<Connection>(*core_, plan.name, plan.steps, tuple, draw_.word(), toCore_, toPeer_);
}

void Churn::runBatch(Batch &batch) {
  batchEnd_ = core_->now() + timeLimit;
  waits_ = 0;
  while (!std::ranges::all_of(batch, &Connection::done))
    if (!step(batch)) idle(batch);
}

/// All timers run out and all waiting segments leave; then nothing may be left.
void Churn::finishBatch(Batch &batch) {
  const auto waiting = [](const auto &connection) { return connection->waiting(); };
  while (step(batch) || std::ranges::any_of(batch, waiting) || core_->nextDeadline() != DOWNBEAT_NEVER) idle(batch);
  for (const auto &connection : batch) {
    established_ += connection->wasEstablished();
    bytes_ += connection->bytes();
  }
  try {
    core_->checkFlows(0);
  } catch (const Failure &failure) {
    std::string stories = failure.what();
    for (const auto &connection : batch) stories += connection->story();
    throw Failure(stories);
  }
  ++batches_;
}

/// True if anything happened.
bool Churn::step(Batch &batch) {
  bool moved = false;
  std::size_t handshakes = 0;
  accept(batch);
  for (const auto &connection : batch) {
    if (!connection->started() && handshakes >= handshakesAtOnce) continue;
    moved |= connection->progress();
    handshakes += connection->started() && !connection->wasEstablished();
  }
  std::vector<Bytes> frames;
  for (const auto &connection : batch)
    connection->send(frames, draw_.chance(50) ? longPayload : draw_.between(1, longPayload), 3);
  downbeat_time arrival = core_->now() + microsecond;
  for (const Bytes &frame : frames) {
    core_->put(frame, arrival);
    arrival += DOWNBEAT_NANOSECONDS((frame.size() + 24) * 8);
  }
  core_->drain();
  for (const Bytes &frame : core_->collect()) {
    moved = true;
    const Layout at(frame);
    if (!at.hasTcp) continue;
    Bytes mirrored = frame;
    turnRound(mirrored);
    const Tuple tuple = segmentOf(mirrored).tuple;
    const auto owner = std::ranges::find_if(batch, [&](const auto &connection) { return connection->owns(tuple); });
    if (owner != batch.end()) (*owner)->receive(frame);
  }
  const std::uint64_t before = std::exchange(events_, core_->deviceCounters().events);
  return moved || before != events_ || !frames.empty();
}

void Churn::accept(Batch &batch) {
  for (downbeat_sim_connection name; downbeat_sim_accept(core_->device(), victimPort, &name) == DOWNBEAT_OK;) {
    downbeat_sim_info info{};
    downbeat_sim_connection_info(core_->device(), name, &info);
    const auto owner = std::ranges::find_if(batch, [&](const auto &connection) {
      return connection->owns({info.remote_ip, info.remote_port, info.local_port});
    });
    if (owner == batch.end() || (*owner)->done()) throw Failure("a connection was accepted that nobody opened");
    (*owner)->accepted(name);
  }
}

/// Time goes on to the next instant at which anybody does something.
void Churn::idle(Batch &batch) {
  downbeat_time next = core_->nextDeadline();
  for (const auto &connection : batch)
    if (connection->waiting()) next = std::min(next, core_->now() + Endpoint::timeout + 1);
  std::string stories;
  for (const auto &connection : batch)
    if (!connection->done() || connection->waiting()) stories += connection->story();
  if (next == DOWNBEAT_NEVER && !std::ranges::all_of(batch, &Connection::done))
    throw Failure("nothing will ever happen again" + stories);
  if (core_->now() > batchEnd_) throw Failure("an hour is not enough" + stories);
  if (++waits_ > maxWaits) throw Failure("an endpoint sends the same for ever" + stories);
  if (next != DOWNBEAT_NEVER) core_->advance(next);
}

/// One long payload, and behind it, while it is written to memory, more short ones than there are slots. How many find
/// none: the same as ever, unless slots are lost.
std::uint64_t Churn::slotBurst() {
  Batch batch;
  batch.push_back(std::make_unique<Connection>(*core_, "slot burst", openings().front().steps,
                                               Tuple{victim.ip, 1, victimPort}, draw_.word(), toCore_, toPeer_));
  runBatch(batch);
  const std::uint64_t before = core_->counter("receive_noSlot");
  Endpoint &peer = batch.front()->peer();
  std::vector<Bytes> frames;
  peer.offer(longPayload + slotBurstFrames);
  peer.send(frames, core_->now(), longPayload, 1);
  peer.send(frames, core_->now(), 1, slotBurstFrames);
  for (const Bytes &frame : frames) core_->put(frame, core_->now());
  core_->drain();
  const std::uint64_t refused = core_->counter("receive_noSlot") - before;
  while (!peer.settled())
    if (!step(batch)) idle(batch);
  batch.front()->extend({{Act::peerReset}, {Act::ended, DOWNBEAT_RESET}, {Act::close}});
  runBatch(batch);
  finishBatch(batch);
  return refused;
}

std::string Churn::report() const {
  std::ostringstream text;
  text << "\"seed\": " << seed_ << ", \"connections\": " << connections_ << ", \"established\": " << established_
       << ", \"batches\": " << batches_ << ", \"bytes\": " << bytes_ << ", \"slot_burst_refused\": ["
       << slotBurstAtStart_ << ", " << slotBurstAtEnd_ << "], \"cores\": " << cores_
       << ", \"virtual_hours\": " << hours_ + hoursOf(core_->now())
       << ", \"timer_armed\": " << (core_->nextDeadline() != DOWNBEAT_NEVER ? "true" : "false") << ", \"ways\": {";
  const char *separator = "";
  for (const auto &[name, count] : pairs_) text << std::exchange(separator, ", ") << '"' << name << "\": " << count;
  text << "}, " << core_->report();
  return text.str();
}

} // namespace churn
