// SPDX-License-Identifier: BSD-2-Clause-Patent
// How long a receiver leaves data without an acknowledgment: less than half a second (RFC 9293 3.8.6.3).
#pragma once

#include <algorithm>
#include <optional>

#include <ns3/nstime.h>

#include "lib/path/segment.h"

class AcknowledgmentWatch {
public:
  void arrived(ns3::Time time, const Segment &segment) {
    if (segment.length > 0 && !waiting_) waiting_ = time;
  }
  void departed(ns3::Time time, const Segment &segment) {
    if (!segment.ack || !waiting_) return;
    longest = std::max(longest, time - *waiting_);
    waiting_.reset();
  }
  void end(ns3::Time time) {
    if (waiting_) longest = std::max(longest, time - *waiting_);
  }

  ns3::Time longest;

private:
  std::optional<ns3::Time> waiting_;
};
