// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's frame streams: s_axis_wire_rx, m_axis_wire_tx, s_axis_departure and the bypass pair.
#pragma once

#include <deque>
#include <vector>

#include "device/core/departures.h"
#include "device/core/model.h"

namespace downbeat {

/// Frames that arrive. The MAC it stands for stores and forwards: the first beat comes when the FCS is in.
class WireReceive {
public:
  /// A frame of any length but 0, whose SFD was at `stamp` and which is complete at `due`.
  void put(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp stamp, Stamp due);

  bool active() const { return position_ != idle; }
  /// When the next frame wants its first beat.
  Stamp nextInstant() const { return waiting_.empty() ? never : waiting_.front().due; }
  /// Takes `by` off the times at which frames are due; their stamps stay.
  void rebase(Stamp by) {
    for (Waiting &each : waiting_) each.due -= by;
  }
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
  explicit WireTransmit(Departures &departures) : departures_(departures) {}

  /// Ready for the beat that the core offers now, and the next departure stamp.
  void drive(Pins &pins, Stamp now);
  void taken(const Pins &pins, Stamp now);
  /// The core offers a beat for which there is no space.
  bool blocks(const Pins &pins) const { return pins.m_axis_wire_tx_tvalid && !ready(pins); }
  void reset() { position_ = 0; }

private:
  bool ready(const Pins &pins) const;

  Departures &departures_;
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
