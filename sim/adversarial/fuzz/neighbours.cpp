// SPDX-License-Identifier: BSD-2-Clause-Patent
// ARP and ICMP in the run: what is sent, what must come back, and the accounts of both.
#include <algorithm>
#include <utility>

#include "control_frames.h"
#include "fuzzer.h"
#include "lib/packets/stations.h"

namespace fuzz {

namespace {

constexpr std::size_t maxData = largest - 42; // bytes in an echo request
constexpr unsigned floodFrames = 120;          // more than any queue holds
constexpr downbeat_time defendInterval = 10 * second, tolerance = second / 10;

/// Takes the first frame that is `right`; counts those before it, whose answers were dropped.
template <typename Right> bool take(std::deque<Bytes> &expected, std::uint64_t &lost, Right right) {
  while (!expected.empty() && !right(expected.front())) expected.pop_front(), ++lost;
  if (expected.empty()) return false;
  expected.pop_front();
  return true;
}

} // namespace

Mutant Fuzzer::controlMutant(const std::optional<Target> &target) {
  Bytes frame;
  if (draw_.chance(45)) {
    frame = drawnArp(draw_);
  } else if (draw_.chance(35)) {
    frame = drawnEcho(draw_.chance(90) ? 80 : maxData, draw_);
  } else {
    Tuple about{0x0a000000 | static_cast<std::uint32_t>(draw_.below(1 << 16)), draw_.half(), draw_.half()};
    std::uint32_t sequence = draw_.word();
    if (target && draw_.chance(60)) {
      about = target->tuple;
      sequence = target->acknowledgment - static_cast<std::uint32_t>(draw_.below(3));
    } else if (draw_.chance(50)) {
      const Endpoint &peer = *connections_[draw_.below(2)]->endpoint;
      about = peer.tuple();
      sequence = peer.expected() - static_cast<std::uint32_t>(draw_.below(3000)) + 1500;
    }
    frame = drawnError(about, sequence, draw_);
  }
  return mutator_.alter(std::move(frame), static_cast<unsigned>(draw_.chance(70) ? 0 : draw_.between(1, 2)), draw_);
}

/// A sender that knows the numbers in flight may make segments smaller (RFC 1191): such a report gets another number if
/// it is about a live connection. Hard errors keep theirs, since they may change nothing (RFC 5927 6).
void Fuzzer::keepReportOffLive(Bytes &frame) {
  if (judgeControl(frame, core) != Control::report || !saysTooBig(frame)) return;
  const Tuple about{read32(frame, reportedIp + 16), read16(frame, reportedTcp + 2), read16(frame, reportedTcp)};
  const Connection *connection = find(about);
  if (connection == nullptr || !connection->live) return;
  const std::uint32_t off = (1 << 24) + static_cast<std::uint32_t>(draw_.below(1 << 30));
  write32(frame, reportedTcp + 4, connection->endpoint->expected() + (draw_.chance(50) ? off : 0 - off));
  repairChecksums(frame);
  ++keptOff_;
}

void Fuzzer::expectControl(const Bytes &frame) {
  const Control what = judgeControl(frame, core);
  ++control_[static_cast<std::size_t>(what)];
  if (what == Control::arpRequest) arpReplies_.push_back(arpReplyTo(frame, core));
  if (what == Control::echo) echoReplies_.push_back(echoReplyTo(frame, core));
  unseen_ += what == Control::arpOther;
}

/// Everything that the core sends and that is no segment answers something, or announces our address.
void Fuzzer::neighbourFrame(const Bytes &frame) {
  static const Bytes announcement = arpPacket(1, core, {{}, core.ip}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  if (read16(frame, 12) == 0x0806 && std::ranges::equal(frame, announcement)) {
    ++announced_;
    return;
  }
  const auto isSame = [&](const Bytes &right) { return right == frame; };
  const auto isReply = [&](const Bytes &right) { return isSameIcmp(frame, right); };
  if (read16(frame, 12) == 0x0806) {
    if (!take(arpReplies_, arpUnreplied_, isSame)) throw Failure("the core sent an ARP packet that nobody asked for");
    ++arpReplied_;
  } else {
    if (!take(echoReplies_, echoUnreplied_, isReply))
      throw Failure("the core sent a frame that is neither a segment nor a right answer");
    ++echoReplied_;
  }
}

/// A static entry stands, whatever ARP says: an open goes there, and so does all of a live connection.
void Fuzzer::checkStaticNeighbour(const Bytes &frame, const Segment &said) const {
  const bool opens = (said.flags & (flag::syn | flag::ack)) == flag::syn;
  for (const Station &station : {livePeer, victim, silent}) {
    const bool ofLive = station.ip == livePeer.ip && std::ranges::any_of(connections_, [&](const auto &connection) {
                          return connection->live && connection->endpoint->tuple() == said.tuple;
                        });
    if (said.tuple.remoteIp == station.ip && (opens || ofLive) &&
        !std::ranges::equal(View(frame).first(6), station.mac))
      throw Failure("a frame for a static neighbour went to another MAC address");
  }
}

/// Judges a core at rest. Drops of the queue before it are known by number only; other frames have the outcome that was
/// judged.
void Fuzzer::checkControl(const Counters &counted) {
  if (before_.empty()) before_ = counted;
  const auto since = [&](const char *name) { return counted.at(name) - before_.at(name); };
  const std::uint64_t lost = since("receive_controlOverflow");
  std::uint64_t missing = 0;
  const auto account = [&](const std::string &name, std::uint64_t happened, Control what) {
    std::uint64_t &judged = control_[static_cast<std::size_t>(what)];
    if (happened > judged || judged - happened > lost)
      throw Failure(name + " is " + std::to_string(happened) + ", and " + std::to_string(judged) + " is right");
    missing += judged - happened;
    judged = happened;
  };
  const auto replied = [&](const std::string &name, std::deque<Bytes> &expected, std::uint64_t &unreplied,
                           std::uint64_t dropped) {
    unreplied += std::exchange(expected, {}).size();
    if (unreplied < dropped || unreplied - dropped > lost)
      throw Failure(std::to_string(unreplied) + ' ' + name + " are missing, and " + std::to_string(dropped) +
                    " were dropped");
    missing += std::exchange(unreplied, 0) - dropped;
  };
  for (std::size_t i = 0; i < controlCounters.size(); ++i)
    account(controlCounters[i], counted.at(controlCounters[i]), static_cast<Control>(i));
  const std::uint64_t reported = counted.at("directory_icmpErrors") + reportEvents_;
  account("the number of reports", reported + counted.at("neighbour_icmpErrorOverflow"), Control::report);
  replied("ARP replies", arpReplies_, arpUnreplied_, since("neighbour_replyOverflow"));
  replied("echo replies", echoReplies_, echoUnreplied_, since("neighbour_echoOverflow"));
  if (missing > lost || missing + std::exchange(unseen_, 0) < lost)
    throw Failure(std::to_string(missing) + " frames of ARP and ICMP have no outcome, and " + std::to_string(lost) +
                  " were dropped");
  if (counted.at("ignoredIcmpErrors") > reportEvents_) throw Failure("more reports were ignored than came");
  checkAnnouncements(since("neighbour_conflicts"));
  before_ = counted;
}

/// RFC 5227 2.4 b: one, and another one ten seconds later at the earliest.
void Fuzzer::checkAnnouncements(std::uint64_t conflicts) {
  const bool first = announcements_ == 0;
  const bool may = conflicts > 0 && (first || now() + tolerance > announcedAt_ + defendInterval);
  const bool must = conflicts > 0 && (first || now() > announcedAt_ + defendInterval + tolerance);
  if (announced_ > (may ? 1u : 0u) || announced_ < (must ? 1u : 0u))
    throw Failure("our address was announced " + std::to_string(announced_) + " times after " +
                  std::to_string(conflicts) + " conflicts");
  if (announced_ > 0) announcedAt_ = now();
  announcements_ += std::exchange(announced_, 0);
}

/// More of each kind at once than the core has space for.
void Fuzzer::floodControl() {
  const Bytes data(maxData);
  const std::uint64_t replies = arpReplied_ + echoReplied_;
  const auto flood = [this](auto make) {
    for (unsigned i = 0; i < floodFrames; ++i) put(make(i), false, now());
    drain();
    checkAccounts();
  };
  flood([](unsigned i) {
    const auto last = static_cast<std::uint8_t>(i);
    return arpPacket(1, {{2, 2, 0, 0, 0, last}, 0x0a000400 + i}, {{}, core.ip}, core.mac);
  });
  flood([&](unsigned) { return echoRequest(silent, View(data), draw_); });
  flood([&](unsigned) { return hardError({silent.ip, 1, closedPort}, draw_.word()); });
  if (arpReplied_ + echoReplied_ == replies) throw Failure("a flood of ARP and echo requests was answered not once");
}

} // namespace fuzz
