// SPDX-License-Identifier: BSD-2-Clause-Patent
// One step of a run: some frames to the core, all that it does with them, and what comes out.
#include <algorithm>

#include "fuzzer.h"
#include "lib/packets/stations.h"

namespace fuzz {

void Fuzzer::step(unsigned mutants) {
  application();
  std::vector<Bytes> genuine = endpointFrames(2);
  std::size_t sent = 0;
  const bool burst = draw_.chance(30), stalled = mutants > 0 && draw_.chance(5);
  downbeat_time arrival = now() + microsecond;
  const auto place = [&](const Bytes &frame, bool damaged) {
    put(frame, damaged, arrival);
    if (!burst) arrival += wireTime(frame);
  };
  if (stalled) downbeat_sim_stall_bypass(core_.device(), 1);
  for (std::size_t left = mutants + genuine.size(); left > 0; --left) {
    if (draw_.below(left) < genuine.size() - sent) {
      place(genuine[sent], false);
      if (draw_.chance(5)) place(genuine[sent], false); // a network may do that
      ++sent;
    } else {
      Mutant next = mutant();
      if (stalled && draw_.chance(70)) next.bytes[0] ^= 4; // for another host: more than the core has space for
      place(next.bytes, next.damaged);
      ++mutants_;
    }
  }
  if (stalled) {
    core_.advance(arrival + 2 * microsecond);
    downbeat_sim_stall_bypass(core_.device(), 0);
  }
  drain();
  checkAccounts();
}

void Fuzzer::addVictim() {
  auto connection = std::make_unique<Connection>();
  const std::uint16_t port = nextPort_++;
  if (nextPort_ == 60000) nextPort_ = 20000;
  const bool active = draw_.chance(30);
  connection->endpoint = std::make_unique<Endpoint>(
      victim, core, Tuple{victim.ip, port, active ? std::uint16_t{0} : victimPort}, draw_.word(), toCore_, toPeer_);
  connection->fate = static_cast<unsigned>(draw_.below(5));
  if (active)
    downbeat_sim_connect(core_.device(), victim.ip, port, 0, nullptr, &connection->name);
  else
    connection->endpoint->connect();
  connections_.push_back(std::move(connection));
  ++victims_;
}

std::vector<Bytes> Fuzzer::endpointFrames(unsigned limit) {
  std::vector<Bytes> frames;
  for (auto &connection : connections_) {
    if (connection->endpoint == nullptr) continue;
    const std::size_t before = frames.size();
    connection->endpoint->send(frames, now(), draw_.chance(10) ? 1460 : draw_.between(1, 200), limit);
    for (std::size_t i = before; i < frames.size(); ++i)
      if (frames[i].size() < 300 || draw_.chance(20)) corpus_.record(frames[i], draw_);
  }
  return frames;
}

Mutant Fuzzer::mutant() {
  std::optional<Target> target;
  if (!heard_.empty() && draw_.chance(40)) {
    const auto &[tuple, numbers] = *std::next(heard_.begin(), static_cast<std::ptrdiff_t>(draw_.below(heard_.size())));
    target = {{victim.mac, tuple.remoteIp}, tuple, numbers.expected, numbers.next};
  } else if (!connections_.back()->live) {
    const Connection &any = *connections_[draw_.below(connections_.size())];
    if (!any.live && any.endpoint != nullptr && any.endpoint->tuple().localPort != 0)
      target = {any.endpoint->station(), any.endpoint->tuple(), any.endpoint->highest() - 1, any.endpoint->expected()};
  }
  Mutant mutant = draw_.chance(10) ? controlMutant(target) : mutator_.mutate(corpus_, target, draw_);
  const Outcome outcome = judge(mutant.bytes, mutant.damaged, core, largest);
  if (isControl(outcome)) keepReportOffLive(mutant.bytes);
  if (isSegment(outcome)) keepOffLive(mutant.bytes);
  return mutant;
}

/// Only a sender that knows the numbers may hurt a connection (RFC 9293 3.10.7.4, RFC 5961): a good segment of a live
/// one gets a sequence number at which nothing of it lies in the window. What is not good keeps its numbers, as it must
/// be dropped before they are looked at.
void Fuzzer::keepOffLive(Bytes &frame) {
  const Segment segment = segmentOf(frame);
  const auto live = std::ranges::find_if(connections_, [&](const auto &connection) {
    return connection->live && connection->endpoint->tuple() == segment.tuple;
  });
  if (live == connections_.end()) return;
  const Endpoint &peer = *(*live)->endpoint;
  const auto far = static_cast<std::uint32_t>(draw_.chance(60) ? draw_.below(3) : draw_.below(1 << 30));
  const auto length = static_cast<std::uint32_t>(segment.payload.size() + 2); // SYN and FIN take numbers
  const std::uint32_t before = peer.unacknowledged() - 1 - length - far,
                      behind = peer.highest() + DOWNBEAT_RECEIVE_BUFFER_BYTES + 1 + far;
  write32(frame, Layout(frame).tcp + 4, draw_.chance(50) ? before : behind);
  repairChecksums(frame);
  ++keptOff_;
}

void Fuzzer::put(const Bytes &frame, bool damaged, downbeat_time arrival) {
  const Outcome outcome = judge(frame, damaged, core, largest);
  ++judged_[static_cast<std::size_t>(outcome)];
  if (outcome == Outcome::bypass || outcome == Outcome::both) bypassed_.push_back(frame);
  if (isControl(outcome)) expectControl(frame);
  controlAlone_ += outcome == Outcome::control;
  downbeat_sim_put_anything(core_.device(), frame.data(), frame.size(), damaged, arrival);
  core_.occupy(arrival + 4 * wireTime(frame)); // the device counts with linkRate
}

void Fuzzer::drain() {
  core_.drain();
  collect();
}

void Fuzzer::wait(downbeat_time time) {
  while (now() < time) {
    drain();
    core_.advance(std::min(time, core_.nextDeadline()));
  }
  drain();
}

void Fuzzer::collect() {
  for (const Bytes &frame : core_.collect()) fromCore(frame);
  Bytes frame(largest + 16);
  for (std::int64_t length; (length = downbeat_sim_get_bypass(core_.device(), frame.data(), frame.size())) > 0;) {
    const View got = View(frame).first(static_cast<std::size_t>(length));
    while (!bypassed_.empty() && !std::ranges::equal(bypassed_.front(), got)) bypassed_.pop_front(), ++bypassLost_;
    if (bypassed_.empty()) throw Failure("a frame left by the bypass that did not come so");
    bypassed_.pop_front();
    ++bypassReceived_;
  }
}

void Fuzzer::fromCore(const Bytes &frame) {
  const Layout at(frame);
  if (!at.hasIp || frame[at.ip + 9] != 6 || read16(frame, 12) != 0x0800) return neighbourFrame(frame);
  const Station to{{frame[0], frame[1], frame[2], frame[3], frame[4], frame[5]},
                   at.hasIp ? read32(frame, at.ip + 16) : 0};
  if (const Outcome outcome = judge(frame, false, to, largest); !isSegment(outcome))
    throw Failure(std::string("the core sent a frame that is wrong: ") +
                  outcomeNames[static_cast<std::size_t>(outcome)]);
  Bytes mirrored = frame;
  turnRound(mirrored);
  const Segment said = segmentOf(mirrored); // its tuple is in the core's words now
  checkStaticNeighbour(frame, said);
  if (draw_.chance(10)) corpus_.record(mirrored, draw_);
  Connection *connection = find(said.tuple);
  if (connection != nullptr && connection->endpoint != nullptr) connection->endpoint->receive(frame, now());
  const bool opened = said.tuple.localPort != livePort && said.tuple.localPort != victimPort;
  if ((connection != nullptr && connection->live) || (said.tuple.remoteIp == silent.ip && opened)) return;
  if ((said.flags & flag::rst) != 0) {
    heard_.erase(said.tuple);
    return;
  }
  const bool numbered = (said.flags & flag::ack) != 0;
  const auto span = static_cast<std::uint32_t>(said.payload.size() + ((said.flags & flag::syn) != 0) +
                                               ((said.flags & flag::fin) != 0));
  heard_[said.tuple] = {numbered ? said.acknowledgment : 0, said.sequence + span};
  if (cleaning_ && numbered)
    put(frameOf({said.tuple, said.acknowledgment, 0, flag::rst, 0, {}, {}}, to, core), false, now());
}

} // namespace fuzz
