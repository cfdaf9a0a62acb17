// SPDX-License-Identifier: BSD-2-Clause-Patent
// A connection that does what its script says: its peer, an honest one as far as the script lets it, and its
// application.
#pragma once

#include "adversarial/core.h"
#include "lib/packets/endpoint.h"
#include "script.h"

namespace churn {

class Connection {
public:
  Connection(fuzz::Core &core, std::string name, Steps steps, const fuzz::Tuple &tuple, std::uint32_t initialSequence,
             const fuzz::Pattern &toCore, const fuzz::Pattern &toPeer);

  /// Does what the script says now; true if anything changed.
  bool progress();
  /// The frames that the peer sends at this instant.
  void send(std::vector<fuzz::Bytes> &frames, std::size_t segment, unsigned limit);
  /// A frame of the core to this peer.
  void receive(const fuzz::Bytes &frame);
  void accepted(downbeat_sim_connection name) { name_ = name; }

  bool done() const { return at_ == steps_.size(); }
  bool started() const { return at_ > 0; }
  bool wasEstablished() const { return established_; }
  /// The peer sends again after its timeout.
  bool waiting() const;
  /// `tuple` as the core says it.
  bool owns(const fuzz::Tuple &tuple) const;
  /// The connection's state, for the text of a failure.
  std::string story() const;
  void extend(const Steps &steps) { steps_.insert(steps_.end(), steps.begin(), steps.end()); }
  fuzz::Endpoint &peer() { return peer_; }
  std::uint64_t bytes() const { return received_ + peer_.received(); }

private:
  bool take(const Step &step);
  void read();
  void write();
  downbeat_sim_info info() const;
  bool delivered() const;

  fuzz::Core &core_;
  std::string description_;
  Steps steps_;
  std::size_t at_ = 0;
  fuzz::Tuple tuple_;
  fuzz::Endpoint peer_;
  const fuzz::Pattern &toCore_, &toPeer_;
  downbeat_sim_connection name_ = 0; // 0: not known to the application, or forgotten
  bool connects_ = false, deaf_ = false, mute_ = false, holds_ = false; // the peer
  bool established_ = false, reads_ = true;
  bool heard_ = false, numbered_ = false,
       resetSeen_ = false; // from the core: anything, an acknowledgment number, a RST
  std::uint32_t expected_ = 0, next_ = 0; // last values from the core: RCV.NXT, SND.NXT
  std::uint64_t offered_ = 0; // bytes of the peer
  std::uint64_t toSend_ = 0, sent_ = 0; // bytes of the application: given, accepted by the core
  std::uint64_t received_ = 0;
  std::vector<fuzz::Bytes> forged_, held_;
};

} // namespace churn
