// SPDX-License-Identifier: BSD-2-Clause-Patent
// The application's data at the header tap: their number, at s_axis_written. Same name and calls as the frame tap's.
#pragma once

#include <array>
#include <deque>
#include <optional>

#include "beat_stream.h"
#include "device/core/connection.h"
#include "device/core/model.h"

namespace downbeat {

/// The core hears of bytes when they would have passed the frame tap's stream, and the way to memory behind it, page by
/// page.
class DataPort {
public:
  explicit DataPort(std::uint64_t linkRate) : in_(linkRate), memory_(linkRate) {}

  /// Time to find a known next hop, which this tap has no module for.
  static constexpr Stamp openLatency = 25 * clockPeriod;

  bool begun() const { return passed_ != never; }
  bool active() const { return false; }
  /// An offer that the core has not taken is no instant: the core is not idle then.
  Stamp nextInstant() const { return std::min(passed_, offered_ || written_.empty() ? never : written_.front().due); }
  void reset() {
    passed_ = never;
    written_.clear();
    offered_ = false;
    begun_ = 0;
  }

  void rest(Pins &pins, Stamp now) {
    pins.framesBegun = begun_;
    offered_ = !written_.empty() && written_.front().due <= now;
    pins.s_axis_written_tvalid = offered_;
    if (!offered_) return;
    pins.s_axis_written_tdata = static_cast<std::uint32_t>(written_.front().length);
    pins.s_axis_written_tuser = written_.front().urgent;
    pins.s_axis_written_tdest = written_.front().flow;
  }
  void drive(Pins &pins, const Connection &connection, std::size_t length, bool urgent, Stamp now) {
    rest(pins, now); // a command that comes now is behind what began before
    if (!begun()) begin(connection, length, urgent, now);
  }
  bool sample(const Pins &pins, Stamp now, bool &end) {
    const bool taken = pins.s_axis_written_tvalid && pins.s_axis_written_tready;
    if (taken) written_.pop_front(), offered_ = false;
    end = passed_ <= now;
    if (end) passed_ = never;
    return taken || end;
  }

  /// Requested bytes are there at once.
  static void requested(Connection &connection, std::size_t length) {
    if (!connection.forgotten) connection.delivered.append(nullptr, length);
    connection.deliveredBytes += length;
  }
  struct Arrival {
    std::uint32_t flow;
    std::array<std::uint8_t, beatBytes> data;
    std::size_t count;
  };
  static std::optional<Arrival> arrived(const Pins &) { return std::nullopt; }
  static void takeAll(Pins &) {}

private:
  /// Latencies of the send buffer's modules beside beats: before a page is written, and from its last beat to the
  /// event.
  static constexpr Stamp admissionLatency = 9 * clockPeriod, responseLatency = 6 * clockPeriod;

  void begin(const Connection &connection, std::size_t length, bool urgent, Stamp now) {
    const std::uint32_t end = connection.pushedSequence();
    Stamp stored = now;
    for (std::size_t rest = length; rest > 0;) {
      const std::size_t part = std::min(rest, page);
      stored = store(static_cast<std::uint32_t>(end - rest), part, in_.pass(now, part) + admissionLatency);
      rest -= part;
    }
    passed_ = in_.free() + clockPeriod;
    ++begun_;
    written_.push_back({connection.flow, length, urgent, stored + responseLatency});
  }

  /// When bytes from this sequence number on are in memory: a burst for each page that they touch (BurstSplitter).
  Stamp store(std::uint32_t sequence, std::size_t length, Stamp ready) {
    Stamp stored = ready;
    for (std::size_t burst; length > 0; length -= burst, sequence += static_cast<std::uint32_t>(burst)) {
      burst = std::min(length, page - sequence % page);
      const std::size_t ofWords = sequence % beatBytes + burst;
      stored = memory_.pass(ready, ofWords);
      if (ofWords <= beatBytes) memory_.pass(stored, 1); // bursts come every other clock at most
    }
    return stored;
  }

  struct Written {
    std::uint32_t flow;
    std::size_t length;
    bool urgent;
    Stamp due;
  };
  BeatStream in_, memory_;
  Stamp passed_ = never; // when the packet that is being handed over has
  std::deque<Written> written_;
  bool offered_ = false; // the front one
  std::uint8_t begun_ = 0; // packets, modulo 256
};

} // namespace downbeat
