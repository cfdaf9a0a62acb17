// SPDX-License-Identifier: BSD-2-Clause-Patent
// One run: mutants at the core's receive stream, two transfers beside them that nothing may hurt, and accounts of every
// frame.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "adversarial/core.h"
#include "control.h"
#include "judgement.h"
#include "lib/packets/endpoint.h"
#include "mutator.h"

namespace fuzz {

class Fuzzer {
public:
  /// `waves`: FST file; empty: none.
  Fuzzer(std::uint64_t seed, const std::string &waves);
  ~Fuzzer();

  /// Sends so many mutants; throws Failure.
  void run(std::uint64_t frames);
  std::uint64_t mutants() const { return mutants_; }
  /// The members of a JSON object, results only.
  std::string report() const;

private:
  /// A connection of the application, and its peer if that is an Endpoint.
  struct Connection {
    std::unique_ptr<Endpoint> endpoint;
    downbeat_sim_connection name = 0; // 0: the core has not reported it yet
    bool live = false; // nothing may hurt it
    unsigned fate = 0; // the application's step for it, if it is not live
    std::uint64_t sent = 0, received = 0;
  };
  using Counters = std::map<std::string, std::uint64_t>;

  /// The phases of a run.
  void openLive();
  void epoch(std::uint64_t end);
  void settle();
  void finish();

  /// Parts of a step.
  void step(unsigned mutants);
  void addVictim();
  std::vector<Bytes> endpointFrames(unsigned limit);
  Mutant mutant();
  void keepOffLive(Bytes &frame);
  Mutant controlMutant(const std::optional<Target> &target);
  void keepReportOffLive(Bytes &frame);
  void put(const Bytes &frame, bool damaged, downbeat_time arrival);
  void drain();
  void collect();
  void fromCore(const Bytes &frame);
  void application();
  void serveLive(Connection &connection);
  void serveOther(Connection &connection);
  void checkAccounts();

  /// ARP and ICMP.
  void expectControl(const Bytes &frame);
  void neighbourFrame(const Bytes &frame);
  void checkStaticNeighbour(const Bytes &frame, const Segment &said) const;
  void checkControl(const Counters &counted);
  void checkAnnouncements(std::uint64_t conflicts);
  void floodControl();
  void expectCount(const Counters &counted, const std::string &name, std::uint64_t expected) const;

  /// Checks of a quiet core.
  void fillBuckets();
  void floodStateless();
  void checkFlows() {
    core_.checkFlows(connections_.size(), [this] { drain(); });
  }
  std::uint64_t slotBurst();
  void wait(downbeat_time time);

  Counters counters() const { return core_.counters(); }
  std::string counterText() const;
  downbeat_time now() const { return core_.now(); }
  Connection *find(const Tuple &tuple);

  std::uint64_t seed_;
  Draw draw_;
  Pattern toCore_, toPeer_;
  Mutator mutator_;
  Corpus corpus_;
  Core core_;
  int segmentEvent_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  /// Last values from the core on a connection that may be hurt: RCV.NXT, at which a RST ends it, and SND.NXT.
  struct Numbers {
    std::uint32_t expected, next;
  };
  std::map<Tuple, Numbers> heard_;
  bool resting_ = false; // the live streams get nothing new
  bool cleaning_ = false; // an endpoint that is no peer replies with a RST
  std::deque<Bytes> bypassed_; // frames that must come out of the bypass, in order
  std::uint16_t nextPort_ = 20000;

  /// Accounts.
  std::array<std::uint64_t, outcomes> judged_{};
  std::uint64_t mutants_ = 0, segmentEvents_ = 0, bypassReceived_ = 0, bypassLost_ = 0, epochs_ = 0;
  std::uint64_t victims_ = 0, established_ = 0; // opened to be hurt, and those of them that were accepted
  std::uint64_t keptOff_ = 0; // mutants that got numbers outside the live window
  std::uint64_t liveToCore_ = 0, liveFromCore_ = 0; // bytes that arrived and were right
  std::uint64_t slotBurstAtStart_ = 0;

  /// Accounts of ARP and ICMP; a step's start from zero with each check.
  std::array<std::uint64_t, controls> control_{}; // judged, of the whole run
  std::uint64_t controlAlone_ = 0, reportEvents_ = 0; // over the whole run
  std::deque<Bytes> arpReplies_, echoReplies_; // that must come, in order
  std::uint64_t arpUnreplied_ = 0, echoUnreplied_ = 0, announced_ = 0,
                unseen_ = 0; // in a step; unseen_: no counter has them
  std::uint64_t arpReplied_ = 0, echoReplied_ = 0, announcements_ = 0;
  Counters before_; // the counters at the last check
  downbeat_time announcedAt_ = 0;
};

} // namespace fuzz
