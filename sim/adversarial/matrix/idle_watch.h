// SPDX-License-Identifier: BSD-2-Clause-Patent
// How long a sender does nothing while something it sent is not acknowledged, in units of the RTO that was in force
// then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <ns3/nstime.h>

#include "lib/path/segment.h"

/// Idle is the time from one of these to the next: a segment leaves that takes sequence space, an acknowledgment of
/// something new arrives. An acknowledgment restarts the retransmission timer; a segment starts it, but a timer that
/// runs goes on as it is, unless it has just expired with a longer timeout to follow (RFC 6298 5.1, 5.3, 5.6).
class IdleWatch {
public:
  void departed(ns3::Time time, const Segment &segment) {
    if (segment.length == 0) return;
    const bool again = highest_ && static_cast<std::int32_t>(segment.end() - *highest_) <= 0;
    segments += 1;
    retransmissions += again;
    if (!acknowledged_) acknowledged_ = segment.sequence;
    moved(time);
    inForce_ = outstanding() ? std::max(inForce_, next_) : next_;
    if (!again) highest_ = segment.end();
  }

  void arrived(ns3::Time time, const Segment &segment) {
    if (!segment.ack || segment.rst || !highest_) return;
    const std::uint32_t fresh = segment.acknowledgment - *acknowledged_;
    if (fresh == 0 || fresh > *highest_ - *acknowledged_) return;
    moved(time);
    inForce_ = next_;
    acknowledged_ = segment.acknowledgment;
  }

  /// The RTO is this now: at once, because of a sample, or for what is sent next, because the timer has expired.
  void sampled(ns3::Time rto) {
    next_ = rto;
    inForce_ =
        std::max(inForce_, rto); // the RFC leaves open whether a sample counts for the timer that its ACK restarts
  }
  void expired(ns3::Time rto) { next_ = rto; }

  /// Nothing more will be heard.
  void end(ns3::Time time) { moved(time); }

  ns3::Time lastMove() const { return last_; }
  double longest = 0;             // idle time by the RTO
  ns3::Time longestIdle, longestAt; // the same interval's length and beginning
  ns3::Time longestOver;          // beyond the RTO; negative: none went beyond
  std::uint64_t segments = 0, retransmissions = 0; // that take sequence space

private:
  bool outstanding() const { return highest_ && *highest_ != *acknowledged_; }

  void moved(ns3::Time time) {
    if (outstanding()) {
      const ns3::Time idle = time - last_;
      const double share = idle.GetSeconds() / inForce_.GetSeconds();
      if (share > longest) longest = share, longestIdle = idle, longestAt = last_;
      longestOver = std::max(longestOver, idle - inForce_);
    }
    last_ = time;
  }

  std::optional<std::uint32_t> acknowledged_, highest_;
  ns3::Time last_, next_ = ns3::Seconds(1), inForce_ = next_;
};
