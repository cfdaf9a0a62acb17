// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's data streams at the frame tap: s_axis_tx and m_axis_rx. The header tap has a class of the same name and
// calls.
#pragma once

#include <array>
#include <bit>
#include <optional>

#include "device/core/connection.h"
#include "device/core/model.h"

namespace downbeat {

class DataPort {
public:
  explicit DataPort(std::uint64_t) {} // as wide as the pins are

  /// The core finds next hops itself.
  static constexpr Stamp openLatency = 0;

  /// The core has part of the packet that is being handed over: it ends first.
  bool begun() const { return position_ != 0; }
  /// It wants the next clock.
  bool active() const { return begun(); }
  /// When it wants a clock, if not the next one.
  Stamp nextInstant() const { return never; }
  void reset() { position_ = 0; }

  void rest(Pins &pins, Stamp) const { pins.s_axis_tx_tvalid = 0; }
  /// Hands over the first `length` bytes of what the connection has to push; `urgent`: they end urgent data.
  void drive(Pins &pins, const Connection &connection, std::size_t length, bool urgent, Stamp) {
    const std::size_t count = std::min(length - position_, beatBytes);
    std::array<std::uint8_t, beatBytes> data{};
    std::memcpy(data.data(), connection.toPush.front() + position_, count);
    pins.s_axis_tx_tvalid = 1;
    setBeat(pins.s_axis_tx_tdata, data.data());
    pins.s_axis_tx_tkeep = keepOf(count);
    pins.s_axis_tx_tlast = position_ + count == length;
    pins.s_axis_tx_tuser = urgent;
    pins.s_axis_tx_tdest = connection.flow;
  }
  /// True if anything was handed over; `end` then says whether it was the packet's end.
  bool sample(const Pins &pins, Stamp, bool &end) {
    if (!pins.s_axis_tx_tvalid || !pins.s_axis_tx_tready) return false;
    end = pins.s_axis_tx_tlast;
    position_ = end ? 0 : position_ + beatBytes;
    return true;
  }

  /// The core received a request for bytes of the connection: they come later.
  static void requested(Connection &, std::size_t) {}
  /// Bytes that came: of which flow, and how many.
  struct Arrival {
    std::uint32_t flow;
    std::array<std::uint8_t, beatBytes> data;
    std::size_t count;
  };
  static std::optional<Arrival> arrived(const Pins &pins) {
    if (!pins.m_axis_rx_tvalid) return std::nullopt;
    Arrival arrival{pins.m_axis_rx_tdest, {}, static_cast<std::size_t>(std::popcount(pins.m_axis_rx_tkeep))};
    getBeat(arrival.data.data(), pins.m_axis_rx_tdata);
    return arrival;
  }
  static void takeAll(Pins &pins) { pins.m_axis_rx_tready = 1; }

private:
  std::size_t position_ = 0;
};

} // namespace downbeat
