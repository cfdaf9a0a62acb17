// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated GapBench: pacer and MAC, their clocks, and their pins as somebody beside the wire sees them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <verilated.h>

#include "Vgap.h"
#include "ethernet.h"
#include "loop.h"
#include "time_line.h"

namespace gap {

struct Clocks {
  std::uint64_t increment = std::uint64_t{8} << 32; // ns that a transmit clock lasts, 32 fraction bits
  double receivePpm = 0;                            // by which the receive clock is faster
};

/// A frame for the gate; `id` is its first eight bytes.
struct Launch {
  std::uint64_t id;
  std::size_t length; // without FCS
  LaunchMode mode;
  Stamp launch;
};

struct Booking {
  std::uint32_t flow;
  bool first;
  std::uint64_t spacing; // ns per byte, 32 fraction bits
  std::uint32_t previousLength;
};

/// Receiver of the events at the pins; each kind comes in the order of the wire.
class Listener {
public:
  virtual ~Listener() = default;
  /// A frame has left: when its SFD's byte came to the transmit pins.
  virtual void left(std::uint64_t id, std::size_t length, Time sfd) = 0;
  /// It has come back: when its SFD's byte came to the receive pins, in the same time.
  virtual void returned(std::uint64_t id, Time sfd) = 0;
  /// The stamps that the MAC gave.
  virtual void departed(Stamp stamp) = 0;
  virtual void received(std::uint64_t id, Stamp stamp) = 0;
  virtual void granted(std::uint32_t flow, Stamp launch) = 0;
};

/// The core's clock and the transmit clock are one. The wire's far end sends every frame back.
class Module {
public:
  Module(const Clocks &clocks, Listener &listener);
  ~Module() { top_->final(); }

  /// To the next edge of the transmit clock, and over all of the receive clock before it.
  void step();
  /// Time at the last edge of the transmit clock, from the number of edges alone.
  Time now() const { return now_; }
  ByteGrid grid() const { return {now_ % byteTime_, byteTime_}; }
  /// The value of the time base.
  Time timeBase() const;
  /// So many clocks pass in which nothing happens: only the time base moves.
  void skip(std::uint64_t clocks);
  std::uint64_t simulatedClocks() const { return simulated_; }

  void transmit(const Launch &launch) { launches_.push_back(launch); }
  void book(const Booking &booking) { bookings_.push_back(booking); }
  /// A frame of another sender comes, its SFD at the first byte time at or after `sfd` and what the far end takes for
  /// it.
  void arrive(std::uint64_t id, std::size_t length, Time sfd) { arrivals_.push_back({id, length, sfd}); }
  /// No frame is on its way but those that wait at the gate, and the pacer waits for `nextGrant`.
  bool quiet() const;
  /// The instant at which the pacer next does something; `armed` false: never.
  struct Next {
    bool armed;
    Time at;
  };
  Next nextGrant() const;
  std::size_t launchesWaiting() const { return launches_.size(); }
  std::uint64_t damaged() const { return damaged_; }
  const Vgap &pins() const { return *top_; }

private:
  void eval() { top_->eval(); }
  void sampleCore();
  void driveCore();
  void transmitEdge();
  void beginArrival();
  void receiveEdge();

  VerilatedContext context_;
  std::unique_ptr<Vgap> top_;
  Listener &listener_;
  Time byteTime_, now_ = 0;
  std::uint64_t receivePeriod_, nextTransmit_ = 0, nextReceive_ = 0; // fs
  std::uint64_t simulated_ = 0, receiveEdges_ = 0, lastBooking_ = 0; // clocks
  std::deque<Launch> launches_;
  std::deque<Booking> bookings_;
  std::size_t position_ = 0; // in the front launch
  bool midFrame_ = false;    // state of `receive`
  struct Arrival {
    std::uint64_t id;
    std::size_t length;
    Time sfd;
  };
  std::deque<Arrival> arrivals_;
  wire::Serialiser arriving_;
  Loop loop_;
  wire::Deserialiser outgoing_, incoming_;
  std::uint64_t left_ = 0, departed_ = 0, returned_ = 0, received_ = 0, damaged_ = 0;
};

} // namespace gap
