// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated WireBench: its clocks, its two sides, and frames into the gate.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <verilated.h>

#include "Vwire.h"
#include "device/core/launch_gate.h"
#include "ethernet.h"
#include "phy.h"

namespace wire {

using downbeat::LaunchMode;
using downbeat::Stamp;

struct TransmitFrame {
  Bytes bytes;
  LaunchMode mode;
  Stamp launch;
  std::uint16_t tag;
};

/// Both wire clocks rise together; the core's lasts `corePeriod` ps.
class Bench {
public:
  using Pins = Vwire;
  static constexpr std::uint64_t wirePeriod = Phy<Pins>::period / 1000; // ps

  explicit Bench(std::uint64_t corePeriod = wirePeriod);
  ~Bench() { top_->final(); }

  /// To the next rising edge of the wire's clocks, and over all of the core's before it.
  void step();
  /// Rising edges of the wire's clocks so far.
  std::uint64_t clocks() const { return clocks_; }
  bool transmitIdle() const { return queue_.empty(); }
  void transmit(TransmitFrame frame) { queue_.push_back(std::move(frame)); }

  /// The listeners of this bench's user.
  Serialiser wireIn{Phy<Pins>::slotBytes};
  struct Accepted {
    TransmitFrame frame;
    std::uint64_t clock; // the edge that took the last beat
  };
  std::deque<Accepted> accepted;
  struct Departure {
    std::uint16_t tag;
    Stamp stamp;
  };
  std::deque<Departure> departures;
  std::deque<std::uint32_t> sequences;
  std::deque<Seen> wireOut;
  const Vwire &pins() const { return *top_; }

private:
  void coreEdge();
  void wireClocks(bool level);
  void wireEdge();
  void driveTransmit();
  void eval() { top_->eval(); }

  VerilatedContext context_;
  std::unique_ptr<Vwire> top_;
  Phy<Pins> phy_{*top_};
  std::uint64_t corePeriod_, nextCore_ = 0, nextWire_ = 0, clocks_ = 0;
  std::deque<TransmitFrame> queue_;
  std::size_t position_ = 0; // in the front frame
  Deserialiser deserialiser_;
};

} // namespace wire
