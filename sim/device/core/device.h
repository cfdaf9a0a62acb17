// SPDX-License-Identifier: BSD-2-Clause-Patent
// One Downbeat core on a wire of its own, in virtual time.
#pragma once

#include <memory>
#include <utility>

#include "application_port.h"
#include "downbeat_build.h"
#include "downbeat_sim_core.h"
#include "model.h"

#ifdef DOWNBEAT_TAP_HEADER // downbeat_build.h
#include "device/tap_header/wire.h"
#else
#include "device/tap_frame/wire.h"
#endif

namespace downbeat {

/// The Verilated core with the MAC's launch gate and an application's ends. Clock edges lie on a grid of 8 ns; none is
/// simulated while the core is idle and nothing arrives: time then jumps to the next instant at which something
/// happens.
class Device {
public:
  Device(const Addresses &own, std::uint64_t linkRate, std::uint64_t secret, std::size_t staging,
         std::uint32_t initialValues);

  /// Time up to which everything has happened.
  Stamp now() const { return now_; }
  /// Runs all clock edges up to and including `until`.
  void advance(Stamp until);
  /// Nothing happens before it unless the device is given something.
  Stamp nextDeadline() const;

  /// Holds the core's reset for so many clocks, with the MAC's sending side and the application's end. The wire goes
  /// on: a frame that comes in loses what passes meanwhile.
  void reset(unsigned clocks);

  /// A frame arrives, its SFD at `arrival`; false: no frame of this core's sizes.
  bool putFrame(const std::uint8_t *bytes, std::size_t length, Stamp arrival);
  /// Any bytes arrive as a frame, not padded; `damaged`: the MAC found its FCS wrong.
  void putAnything(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp arrival);
  /// Frames that have left, in order; `time` is the SFD.
  std::deque<Frame> &departed() { return wire_.departures().departed; }
  Wire &wire() { return wire_; }
  ApplicationPort &application() { return application_; }

  void onEvent(downbeat_sim_event_callback callback, void *context) {
    callback_ = callback;
    callbackContext_ = context;
  }
  void onReport(downbeat_sim_report_callback callback, void *context) {
    reportCallback_ = callback;
    reportContext_ = context;
  }
  downbeat_sim_counters counters() const;
  /// Name and value of one of the core's own counters; nullptr behind the last.
  std::pair<const char *, std::uint32_t> coreCounter(unsigned index) const;
  bool waves(const char *path);

private:
  /// The next edge that is worth simulating; `never`: none until an input.
  Stamp nextEdge() const;
  void clock(Stamp edge);
  /// Takes notifications, data and events of this clock; true if there were any.
  bool sample(Stamp edge);
  void trace();
  void report();

  Model model_;
  Wire wire_;
  ApplicationPort application_;

  Stamp now_ = 0;
  Stamp lastEdge_ = 0;
  /// Clocks since something last crossed a port or time last jumped. A module may say a clock or two late that it is
  /// busy.
  static constexpr unsigned settling = 4;
  /// The core counts as idle when it only waits for the gate to take a frame:
  /// without that, each microsecond of a busy slow link would cost its 125 clocks.
  static constexpr unsigned timeLimit = 256;
  unsigned quietClocks_ = 0;

  downbeat_sim_event_callback callback_ = nullptr;
  void *callbackContext_ = nullptr;
  downbeat_sim_report_callback reportCallback_ = nullptr;
  void *reportContext_ = nullptr;
  downbeat_sim_counters counters_{};
};

} // namespace downbeat
