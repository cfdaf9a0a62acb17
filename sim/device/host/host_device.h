// SPDX-License-Identifier: BSD-2-Clause-Patent
// One DownbeatHost on a wire of its own, in virtual time: its registers, its memory, its interrupts.
#pragma once

#include "axi_memory.h"
#include "device/tap_frame/wire_port.h"
#include "register_bus.h"

namespace downbeat {

/// Clock edges lie on a grid of 8 ns; none is simulated while the core is idle and nothing arrives. The core's time,
/// and the caller's, wraps after 78 hours; within, times are later than a base that moves.
class HostDevice {
public:
  explicit HostDevice(std::uint64_t linkRate);

  Stamp now() const { return now_ + departures_.base; }
  void advance(Stamp until);
  /// Nothing happens before it unless the device is given something.
  Stamp nextDeadline() const {
    const Stamp next = std::min(nextEdge(), departures_.gate.nextDeparture());
    return next == never ? never : next + departures_.base;
  }

  void write(std::uint32_t address, std::uint32_t value) { bus_.write(address, value); }
  /// Lets the time of the access pass; false: the bus answered with an error.
  bool read(std::uint32_t address, std::uint32_t &value);
  std::uint32_t interrupts() const { return interrupts_; }

  bool putFrame(const std::uint8_t *bytes, std::size_t length, Stamp arrival);
  std::deque<Frame> &departed() { return departures_.departed; }
  std::deque<Frame> &bypassed() { return bypass_.received; }

  HostMemory memory;

private:
  /// A time of the core or the caller as it is within.
  Stamp within(Stamp time) const { return time - departures_.base; }
  void rebase();
  Stamp nextEdge() const;
  void clock(Stamp edge);
  bool sample(Stamp edge);

  Model model_;
  Departures departures_;
  WireReceive receive_;
  WireTransmit transmit_;
  Bypass bypass_;
  AxiMemory<PayloadPort> payload_;
  AxiMemory<RingPort> rings_;
  RegisterBus bus_;

  Stamp now_ = 0, lastEdge_ = 0;
  std::uint32_t interrupts_ = 0;
  /// Clocks since something last crossed a port or time last jumped; a module may say late that it is busy.
  static constexpr unsigned settling = 8;
  unsigned quietClocks_ = 0;
};

} // namespace downbeat
