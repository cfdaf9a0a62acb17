// SPDX-License-Identifier: BSD-2-Clause-Patent
// Compares the core's counters with the expected ones; and whether a quiet core has all that it had at the start.
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "collisions.h"
#include "fuzzer.h"
#include "lib/packets/stations.h"

namespace fuzz {

namespace {

constexpr std::uint32_t buckets = DOWNBEAT_FLOWS / 2;
constexpr std::size_t waysOfBoth = 8;
constexpr std::uint16_t floodFrames = 40;
constexpr std::size_t longPayload = 1460;
constexpr unsigned slotBurstFrames = 12;

} // namespace

std::string Fuzzer::counterText() const {
  std::ostringstream text;
  for (const auto &[name, value] : counters()) text << ' ' << name << '=' << value;
  return text.str();
}

void Fuzzer::expectCount(const Counters &counted, const std::string &name, std::uint64_t expected) const {
  if (counted.at(name) != expected)
    throw Failure(name + " is " + std::to_string(counted.at(name)) + ", and " + std::to_string(expected) + " is right");
}

/// Judges a core at rest: every frame has one outcome, and it is the right one.
void Fuzzer::checkAccounts() {
  const Counters counted = counters();
  const auto judged = [this](Outcome outcome) { return judged_[static_cast<std::size_t>(outcome)]; };
  const auto counter = [](Outcome cause) {
    return std::string("receive_") + outcomeNames[static_cast<std::size_t>(cause)];
  };
  const std::pair<Outcome, std::vector<Outcome>> either[] = {
      {Outcome::shortFragment, {Outcome::ipChecksum, Outcome::fragment}},
      {Outcome::maybeRoute, {Outcome::sourceRoute, Outcome::tcpHeaderLength, Outcome::tcpChecksum, Outcome::options}}};
  std::set<Outcome> vague;
  for (const auto &[outcome, causes] : either) {
    if (judged(outcome) == 0) continue;
    std::uint64_t together = 0, right = judged(outcome);
    for (const Outcome cause : causes) {
      vague.insert(cause);
      together += counted.at(counter(cause));
      right += judged(cause);
      if (counted.at(counter(cause)) < judged(cause)) expectCount(counted, counter(cause), judged(cause));
    }
    if (together != right)
      throw Failure(std::to_string(together) + " frames were dropped by " + counter(causes.front()) +
                    " or an equal cause, and " + std::to_string(right) + " is right");
  }
  for (std::size_t cause = 0; cause < static_cast<std::size_t>(Outcome::bypass); ++cause)
    if (!vague.contains(static_cast<Outcome>(cause)))
      expectCount(counted, counter(static_cast<Outcome>(cause)), judged_[cause]);
  bypassLost_ += bypassed_.size();
  bypassed_.clear();
  expectCount(counted, "receive_bypassOverflow", bypassLost_);

  std::uint64_t known = bypassReceived_ + segmentEvents_;
  for (const auto &[name, value] : counted)
    if (name.starts_with("receive_") && name != "receive_controlOverflow") known += value;
  for (const char *name : {"noConnection", "synNoFlow", "synNoBucket", "cookiesSent", "timeWaitSegments"})
    known += counted.at(std::string("directory_") + name);
  known -= counted.at("directory_cookiesAccepted"); // such an ACK is two events
  known += controlAlone_; // other frames there are the bypass's
  checkControl(counted);
  if (const std::uint64_t came = core_.deviceCounters().frames_in; known != came)
    throw Failure(std::to_string(came) + " frames came in, and " + std::to_string(known) + " have an outcome");
}

/// SYNs for both buckets of one place of the flow table: more than there are slots, and than there may be handshakes.
void Fuzzer::fillBuckets() {
  for (const Tuple &tuple : collisions(core_.secret(), victimPort, waysOfBoth + 1, buckets)) {
    put(frameOf({tuple, draw_.word(), 0, flag::syn, 1000, {}, {}}, {attacker, tuple.remoteIp}, core), false, now());
  }
  drain();
}

/// More unexpected segments at once than the core can send stateless replies.
void Fuzzer::floodStateless() {
  for (std::uint16_t port = 1; port <= floodFrames; ++port)
    put(frameOf({{silent.ip, port, closedPort}, draw_.word(), draw_.word(), flag::ack, 0, {}, {}}, silent, core), false,
        now());
  drain();
}

/// One long payload, and behind it, while it is written to memory, more short ones than there are slots. How many find
/// none: the same as ever, unless slots are lost. Their sender sends them again.
std::uint64_t Fuzzer::slotBurst() {
  const std::uint64_t before = counters().at("receive_noSlot");
  Endpoint &peer = *connections_.front()->endpoint;
  peer.offer(longPayload + slotBurstFrames);
  std::vector<Bytes> frames;
  peer.send(frames, now(), longPayload, 1);
  peer.send(frames, now(), 1, slotBurstFrames);
  for (const Bytes &frame : frames) put(frame, false, now());
  drain();
  return counters().at("receive_noSlot") - before;
}

std::string Fuzzer::report() const {
  std::ostringstream text;
  text << "\"seed\": " << seed_ << ", \"mutants\": " << mutants_ << ", \"epochs\": " << epochs_
       << ", \"segment_events\": " << segmentEvents_ << ", \"bypassed\": " << bypassReceived_
       << ", \"kept_off_live\": " << keptOff_ << ", \"control_alone\": " << controlAlone_
       << ", \"arp_replies\": " << arpReplied_ << ", \"echo_replies\": " << echoReplied_
       << ", \"announcements\": " << announcements_ << ", \"report_events\": " << reportEvents_
       << ", \"connections_offered\": " << victims_ << ", \"connections_accepted\": " << established_
       << ", \"live_bytes_to_core\": " << liveToCore_ << ", \"live_bytes_from_core\": " << liveFromCore_
       << ", \"slot_burst_refused\": " << slotBurstAtStart_ << ", " << core_.report() << ", \"mutations\": {";
  const char *separator = "";
  for (const auto &[name, value] : mutator_.counts())
    text << std::exchange(separator, ", ") << '"' << name << "\": " << value;
  text << "}";
  return text.str();
}

} // namespace fuzz
