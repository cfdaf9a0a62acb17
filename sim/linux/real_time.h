// SPDX-License-Identifier: BSD-2-Clause-Patent
// Runs a device in real time between its application and a TAP: its time is CLOCK_MONOTONIC since the start.
//
// The core simulates some hundred times slower than it would run, so a burst puts the device behind the clock; it
// catches up in the idle time after it, which costs nothing. Frames carry the times at which they were on the wire, not
// those at which the core handled them.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "application.h"
#include "downbeat_sim_core.h"
#include "lib/capture/pcapng.h"
#include "options.h"
#include "tap.h"
#include "way.h"

class RealTime {
public:
  static constexpr std::uint64_t linkRate = 1'000'000'000; // b/s

  /// Throws std::runtime_error if a capture is wanted and cannot be written.
  RealTime(downbeat_device *device, Tap &tap, Application &application, const Options &options);

  /// Runs until the application has finished or failed, the wall limit is over, or a signal sets `stop`.
  void run(const volatile std::sig_atomic_t &stop);

  /// The reason of the end; empty: the application has finished.
  const std::string &failure() const { return failure_; }

  Way toCore, fromCore;
  downbeat_time worstLag = 0; // largest lag of the device behind the clock

private:
  static constexpr int framesAtOnce = 16;
  /// Device time between two checks of the wire and of the limits.
  static constexpr downbeat_time slice = DOWNBEAT_NANOSECONDS(1'000'000);
  /// Time in which the core's last frames (an ACK of the peer's FIN) leave after the application has finished.
  static constexpr downbeat_time lastWords = DOWNBEAT_NANOSECONDS(20'000'000);
  static constexpr downbeat_time longestWait = DOWNBEAT_NANOSECONDS(100'000'000);

  void openCapture(const std::string &path);
  void capture(Pcapng::Direction direction, downbeat_time sfd, std::span<const std::uint8_t> frame);
  int receiveFrames();
  void sendFrames();
  void toDevice(std::span<const std::uint8_t> frame);
  void pause();

  downbeat_device *device_;
  Tap &tap_;
  Application &application_;
  downbeat_time limit_;
  WallClock clock_;
  downbeat_time wireFree_ = 0; // towards the core: the end of its last frame
  std::array<std::uint8_t, 9018> frame_;
  std::optional<Pcapng> capture_;
  std::uint32_t captured_ = 0; // the interface
  std::string failure_;
};
