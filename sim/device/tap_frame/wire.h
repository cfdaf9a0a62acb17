// SPDX-License-Identifier: BSD-2-Clause-Patent
// The wire at the 64-bit tap (Downbeat.scala): whole frames, with their payload. The header tap has a class of the same
// name and calls.
#pragma once

#include "device/core/departures.h"
#include "neighbour_port.h"
#include "wire_port.h"

namespace downbeat {

class Wire {
public:
  /// A beat each clock of 8 ns.
  static constexpr std::uint64_t highestLinkRate = beatBytes * 1'000'000'000;

  Wire(const Addresses &own, std::uint64_t linkRate) : own_(own), departures_(linkRate), transmit_(departures_) {}

  /// The core's own addresses.
  void setAddresses(Pins &pins) const;
  void addNeighbour(std::uint32_t ip, std::uint64_t mac) { neighbours_.add(ip, mac); }
  /// Whether an open can be asked of the core: it finds the next hop itself.
  bool reaches(std::uint32_t) const { return true; }

  /// Any bytes arrive as a frame that is complete at `due`.
  void put(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp arrival, Stamp due) {
    receive_.put(bytes, length, damaged, arrival, due);
  }
  /// Damaged or malformed frames that the tap dropped before the core.
  std::uint64_t refused() const { return 0; }

  /// Everything outside the core up to `now`.
  void run(Stamp now) { departures_.run(now); }
  /// The next thing that `run` has to do.
  Stamp nextRun() const { return departures_.gate.nextDeparture(); }
  /// The next event for the core.
  Stamp nextInstant() const { return std::min(receive_.nextInstant(), departures_.nextStamp()); }
  /// Something is half done, and wants each clock.
  bool active(const Pins &) const { return receive_.active() || bypass_.active() || neighbours_.active(); }
  /// The core is not idle, perhaps for no other reason than that it waits for a full gate.
  bool blocks(const Pins &pins) const { return transmit_.blocks(pins); }

  void drive(Pins &pins, Stamp now);
  /// Takes what crossed the pins in this clock; true if anything did.
  bool sample(const Pins &pins, Stamp now);
  /// The core has forgotten everything; what comes in goes on.
  void reset();

  Departures &departures() { return departures_; }
  const Departures &departures() const { return departures_; }
  Bypass &bypass() { return bypass_; }
  const Bypass &bypass() const { return bypass_; }

private:
  Addresses own_;
  Departures departures_;
  WireReceive receive_;
  WireTransmit transmit_;
  Bypass bypass_;
  NeighbourPort neighbours_;
};

} // namespace downbeat
