// SPDX-License-Identifier: BSD-2-Clause-Patent
// The launch gate and the link behind it, as the MAC's (rtl/downbeat/mac/LaunchGate.scala): when each frame's SFD
// leaves. sim/bench/wire compares the two.
//
// A frame occupies its bytes and 24 more (preamble and SFD 8, FCS 4, gap 12; IEEE 802.3), at least 60 + 24. Departures
// lie on the link's byte grid, which starts at 0 and never drifts: byte k at ceil(k x 8 / rate).
//   at             at the first byte time at or after its launch, or when the frame before it has ended
//   afterPrevious  directly behind the timed frame before it
//   asap           if it ends before the next timed frame's launch, or behind a timed frame if the next one is late
// A frame's SFD is at least `latency` after it was complete. Which frame leaves is decided that long before its SFD:
// one that comes later changes nothing.
#pragma once

#include <deque>
#include <optional>

#include "types.h"

namespace downbeat {

enum class LaunchMode : std::uint8_t {
  at = DOWNBEAT_LAUNCH_MODE_AT,
  asap = DOWNBEAT_LAUNCH_MODE_ASAP,
  afterPrevious = DOWNBEAT_LAUNCH_MODE_AFTER_PREVIOUS
};

class LaunchGate {
public:
  /// From the clock that takes a frame's last beat to its SFD on an idle wire, in the MAC with all its clocks alike.
  static constexpr Stamp latency = 25 * clockPeriod;

  explicit LaunchGate(std::uint64_t rate) : rate_(rate) {}

  /// A frame of this mode may begin to come in: the gate's own store holds a few of each kind.
  bool ready(LaunchMode mode) const { return (mode == LaunchMode::asap ? asap_ : timed_).size() < depth; }

  /// The next frame, to be filled; `push` hands it over, complete at `now`.
  Frame &filling() { return filling_; }
  void push(LaunchMode mode, Stamp launch, Stamp now);

  /// Forgets the frames that wait.
  void reset();
  /// Takes `by` off all times: whole seconds, so that the grid stays. Nothing that waits is earlier.
  void rebase(Stamp by);

  /// The next departure, unless a frame that comes in earlier goes first; `never`: nothing waits.
  Stamp nextDeparture() const { return next_; }
  /// Lets the frame of nextDeparture go. Its `time` is its SFD.
  Frame depart();

  /// Frames that left after their launch: all, and by the cause that comes first.
  std::uint64_t lateDepartures() const { return lateArrived() + lateInverted() + lateBusy(); }
  std::uint64_t lateArrived() const { return late_[arrived]; } // complete too late, and no timed frame held the wire
  std::uint64_t lateInverted() const { return late_[inverted]; } // behind a frame with a later launch
  std::uint64_t lateBusy() const { return late_[busy]; } // an earlier frame held the wire
  Stamp worstLateness() const { return worstLateness_; }
  /// From an SFD to the last byte of the FCS.
  Stamp lastByteAfterSfd(std::size_t length) const { return timeOf(std::max(length, smallestFrame) + 5); }

private:
  static constexpr std::size_t depth = 4;
  static constexpr std::uint64_t overhead = 24;
  enum Cause { arrived, inverted, busy };
  using Wide = unsigned __int128;
  static constexpr Wide stampsPerBit = Wide{1'000'000'000} << 16; // times 1 / rate

  struct Waiting {
    Frame frame;
    LaunchMode mode;
    Stamp launch;
    std::uint64_t earliest; // byte of the grid at or after which the SFD may be
    bool arrivedLate, inverted;
  };

  std::uint64_t byteAt(Stamp time) const {
    return static_cast<std::uint64_t>((Wide{time} * rate_ + 8 * stampsPerBit - 1) / (8 * stampsPerBit));
  }
  Stamp timeOf(std::uint64_t byte) const {
    return static_cast<Stamp>((Wide{byte} * 8 * stampsPerBit + rate_ - 1) / rate_);
  }
  static std::uint64_t bytesOf(const Frame &frame) {
    return std::max<std::uint64_t>(frame.length, smallestFrame) + overhead;
  }
  void choose();

  std::uint64_t rate_; // b/s
  Frame filling_;
  std::deque<Waiting> timed_, asap_;
  std::uint64_t free_ = 8; // first byte of the grid that an SFD may take
  Stamp next_ = never;
  bool nextIsAsap_ = false;
  std::uint64_t nextByte_ = 0;
  Stamp lastLaunch_ = 0; // the latest launch of a timed frame so far
  bool lastIsAsap_ = false; // the frame that left last
  bool heldByTimed_ = false; // up to `free_`, by a frame that did not itself come too late
  std::uint64_t late_[3] = {};
  Stamp worstLateness_ = 0;
};

} // namespace downbeat
