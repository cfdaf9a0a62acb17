// SPDX-License-Identifier: BSD-2-Clause-Patent
// The application's data at the header tap: their number, at s_axis_written. Same name and calls as the frame tap's.
#pragma once

#include <optional>

#include "connection.h"
#include "model.h"

namespace downbeat {

class DataPort {
public:
  bool begun() const { return due_ != never; }
  bool active() const { return false; }
  Stamp nextInstant() const { return due_; }
  void reset() { due_ = never; }

  void rest(Pins &pins) const { pins.s_axis_written_tvalid = 0; }
  /// The core hears of the bytes when they would have passed the frame tap's stream of 64 bits a clock, and be in memory.
  void drive(Pins &pins, const Connection &connection, std::size_t length, Stamp now) {
    if (!begun()) due_ = now + (length + beatBytes - 1) / beatBytes * clockPeriod + writeLatency;
    pins.s_axis_written_tvalid = due_ <= now;
    pins.s_axis_written_tdata = static_cast<std::uint32_t>(length);
    pins.s_axis_written_tdest = connection.flow;
  }
  bool sample(const Pins &pins, bool &end) {
    if (!pins.s_axis_written_tvalid || !pins.s_axis_written_tready) return false;
    due_ = never;
    return end = true;
  }

  /// What the core has received is there.
  static void asked(Connection &connection, std::size_t length) {
    if (!connection.forgotten) connection.delivered.append(nullptr, length);
    connection.deliveredBytes += length;
  }
  struct Arrival {
    std::uint32_t flow;
    std::uint64_t data;
    std::size_t count;
  };
  static std::optional<Arrival> arrived(const Pins &) { return std::nullopt; }
  static void takeAll(Pins &) {}

private:
  static constexpr Stamp writeLatency = 30 * clockPeriod;

  Stamp due_ = never; // of the packet that is being handed over
};

} // namespace downbeat
