// SPDX-License-Identifier: BSD-2-Clause-Patent
// The wire at the header tap (HeaderTap.scala): frames are taken apart and put together here, and their payload is
// zeros. Same name and calls as the frame tap's.
#pragma once

#include <map>

#include "device/core/departures.h"
#include "device/core/model.h"
#include "segment.h"
#include "transmit_line.h"

namespace downbeat {

/// Frames of others: none of them enters the core.
struct Bypass {
  std::deque<Frame> received, toSend;
  std::uint64_t frames = 0; // received
  bool stalled = false;     // means nothing here: the core holds none
};

class Wire {
public:
  static constexpr std::uint64_t highestLinkRate = 100'000'000'000;

  Wire(const Addresses &own, std::uint64_t linkRate)
      : own_(own), departures_(linkRate), stream_(linkRate), line_(departures_.gate, linkRate) {}

  void setAddresses(Pins &pins) const { pins.local_ip = own_.ip; }
  void addNeighbour(std::uint32_t ip, std::uint64_t mac) { neighbours_[ip] = mac; }
  /// Neighbours are those that were given; nobody is asked for.
  bool reaches(std::uint32_t ip) const { return neighbours_.contains(nextHop(ip)); }

  void put(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp arrival, Stamp due);
  /// Damaged, or TCP to us but not of TCP's form.
  std::uint64_t refused() const { return refused_; }

  void run(Stamp now);
  Stamp nextRun() const { return std::min(line_.nextInstant(), departures_.gate.nextDeparture()); }
  /// An offer that the core has not taken is no instant: the core is not idle then.
  Stamp nextInstant() const {
    return std::min(offered_ || arrived_.empty() ? never : arrived_.front().due, departures_.nextStamp());
  }
  bool active(const Pins &pins) const { return line_.ready() && (pins.outgoing_valid || !bypass_.toSend.empty()); }
  bool blocks(const Pins &pins) const { return pins.outgoing_valid && !line_.ready(); }

  void drive(Pins &pins, Stamp now);
  bool sample(const Pins &pins, Stamp now);
  void reset();

  Departures &departures() { return departures_; }
  const Departures &departures() const { return departures_; }
  Bypass &bypass() { return bypass_; }
  const Bypass &bypass() const { return bypass_; }

private:
  /// From a frame's last beat until its segment is known, in the 64-bit tap's receiver; with timestamps or SACK blocks
  /// that may be among its options, so much later (SegmentParser's hasLongValues).
  static constexpr Stamp parserLatency = 8 * clockPeriod, longValuesLatency = clockPeriod;
  static constexpr unsigned longValuesWords = 3;

  struct Arrived {
    Segment segment;
    Stamp stamp, due;
  };

  std::uint32_t nextHop(std::uint32_t ip) const { return ((ip ^ own_.ip) & own_.netmask) == 0 ? ip : own_.gateway; }
  /// The segment that the core offers.
  void take(const Pins &pins, Stamp now);

  Addresses own_;
  Departures departures_;
  BeatStream stream_; // in
  TransmitLine line_; // out
  std::deque<Arrived> arrived_;
  bool offered_ = false; // the front one
  Bypass bypass_;
  std::map<std::uint32_t, std::uint64_t> neighbours_;
  std::uint64_t refused_ = 0;
};

} // namespace downbeat
