// SPDX-License-Identifier: BSD-2-Clause-Patent
// The application's streams: opens connections, writes on request, reads received bytes in the clock behind their
// notification.
#pragma once

#include <deque>
#include <functional>

#include "device/core/bits.h"
#include "device/core/types.h"
#include "module.h"

namespace latency {

class Application {
public:
  explicit Application(unsigned connections) : connections_(connections), byFlow_(DOWNBEAT_FLOWS) {}

  /// Opens them all, unpaced, standard slow start and Reno, no Nagle.
  void open();
  bool established() const;
  /// One frame of so many bytes on s_axis_tx, behind those that wait.
  void write(unsigned connection, std::size_t length);
  /// Bytes written so far, those that wait for the core included.
  std::uint64_t written(unsigned connection) const { return connections_[connection].written; }

  void sample(const Pins &pins, Time now);
  void drive(Pins &pins) const;

  /// The first byte of a frame went over; its place in the stream.
  std::function<void(unsigned connection, std::uint64_t position, Time now)> onAccepted = [](unsigned, std::uint64_t,
                                                                                             Time) {};
  /// Bytes up to `end` of the stream came out of m_axis_rx.
  std::function<void(unsigned connection, std::uint64_t end, Time now)> onDelivered = [](unsigned, std::uint64_t,
                                                                                         Time) {};

private:
  using CommandWords = downbeat::Words<DOWNBEAT_COMMAND_BITS>;
  struct Connection {
    bool established = false;
    std::uint32_t flow = 0, initial = 0;
    std::uint64_t written = 0, accepted = 0, requested = 0, delivered = 0;
  };
  struct Frame {
    unsigned connection;
    std::size_t length;
  };
  void notified(const Pins &pins);

  std::vector<Connection> connections_;
  std::vector<unsigned> byFlow_;
  std::deque<CommandWords> commands_;
  std::deque<Frame> frames_;
  std::size_t position_ = 0; // in the front frame
};

} // namespace latency
