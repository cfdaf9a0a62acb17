// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's frame streams: s_axis_wire_rx, m_axis_wire_tx, s_axis_departure and the bypass pair.
#pragma once

#include <deque>
#include <vector>

#include "launch_gate.h"
#include "model.h"

namespace downbeat {

/// Frames that arrive. The MAC it stands for stores and forwards: the first beat comes when the FCS is in.
class WireReceive {
public:
  /// A frame of any length but 0, whose SFD was at `stamp` and which is complete at `due`.
  void put(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp stamp, Stamp due);

  bool active() const { return position_ != idle; }
  /// When the next frame wants its first beat.
  Stamp nextInstant() const { return waiting_.empty() ? never : waiting_.front().due; }
  void drive(Pins &pins, Stamp now);
  /// The beat was taken; true if it was a frame's last.
  bool taken();

private:
  struct Waiting {
    std::vector<std::uint8_t> bytes; // whole beats
    std::uint32_t length;
    bool damaged;
    Stamp stamp, due;
  };
  static constexpr std::uint32_t idle = UINT32_MAX;
  std::deque<Waiting> waiting_; // the front one is in progress when active
  std::uint32_t position_ = idle;
};

/// Frames that leave: beats to the gate, departure stamps back.
class WireTransmit {
public:
  explicit WireTransmit(std::uint64_t rate) : gate(rate) {}

  /// Ready for the beat that the core offers now, and the next departure stamp.
  void drive(Pins &pins, Stamp now);
  void taken(const Pins &pins, Stamp now);
  /// Everything that leaves up to `now`.
  void depart(Stamp now);
  /// Forgets what has not departed, and stamps.
  void reset();
  /// The earlier of a departure and a stamp to return.
  Stamp nextInstant() const;

  LaunchGate gate;
  std::deque<Frame> departed;
  std::uint64_t frames = 0; // that have departed

private:
  struct Departure {
    std::uint16_t tag;
    Stamp stamp;
  };
  std::deque<Departure> stamps_;
  bool driven_ = false;
  std::uint32_t position_ = 0;
};

/// Frames of others: what the core handed on, and what it is to send.
class Bypass {
public:
  void drive(Pins &pins) const;
  void sample(const Pins &pins);
  bool active() const { return !toSend.empty(); }
  /// Forgets what is on its way.
  void reset();

  std::deque<Frame> received, toSend;
  std::uint64_t frames = 0; // received
  bool stalled = false;     // nobody takes what the core hands on

private:
  std::uint32_t sent_ = 0;
  Frame filling_;
  std::uint32_t filled_ = 0;
};

} // namespace downbeat
