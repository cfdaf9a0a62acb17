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
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "application.h"
#include "downbeat_sim_core.h"
#include "lib/capture/pcapng.h"
#include "lib/path/impairments.h"
#include "options.h"
#include "tap.h"

class RealTime {
public:
  static constexpr std::uint64_t linkRate = 1'000'000'000; // b/s

  /// Throws std::runtime_error if a capture is wanted and cannot be written.
  RealTime(downbeat_device *device, Tap &tap, Application &application, const Options &options);

  /// Runs until the application has finished or failed, the wall limit is over, or a signal sets `stop`.
  void run(const volatile std::sig_atomic_t &stop);

  /// The reason of the end; empty: the application has finished.
  const std::string &failure() const { return failure_; }

  Impairments toCore, fromCore;
  downbeat_time worstLag = 0; // largest lag of the device behind the clock

private:
  static constexpr int framesAtOnce = 16;
  /// Device time between two checks of the wire and of the limits.
  static constexpr downbeat_time slice = DOWNBEAT_NANOSECONDS(1'000'000);
  /// Time in which the core's last frames (an ACK of the peer's FIN) leave after the application has finished.
  static constexpr downbeat_time lastWords = DOWNBEAT_NANOSECONDS(20'000'000);
  static constexpr downbeat_time longestWait = DOWNBEAT_NANOSECONDS(100'000'000);
  /// The longest that a frame is held back to be overtaken.
  static constexpr downbeat_time hold = DOWNBEAT_NANOSECONDS(3'000'000);

  /// Frames that are held back or on their way, by the time at which they go on.
  using Held = std::multimap<downbeat_time, std::vector<std::uint8_t>>;

  downbeat_time clock() const;
  void openCapture(const std::string &path);
  void capture(Pcapng::Direction direction, downbeat_time sfd, std::span<const std::uint8_t> frame);
  int receiveFrames();
  void sendFrames();
  /// The first `length` bytes of `frame_` enter one way of the wire: their copies go on now or are held back.
  template <typename Forward> void enter(Impairments &way, Held &held, std::size_t length, Forward forward);
  template <typename Forward> void release(Held &held, Forward forward);
  void toDevice(std::span<const std::uint8_t> frame);
  void wait();

  downbeat_device *device_;
  Tap &tap_;
  Application &application_;
  downbeat_time limit_, delay_;
  std::uint64_t startNanoseconds_;
  downbeat_time wireFree_ = 0; // towards the core: the end of its last frame
  std::array<std::uint8_t, 9018> frame_;
  Held heldToCore_, heldFromCore_;
  std::optional<Pcapng> capture_;
  std::uint32_t captured_ = 0; // the interface
  std::string failure_;
};
