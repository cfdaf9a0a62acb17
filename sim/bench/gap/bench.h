// SPDX-License-Identifier: BSD-2-Clause-Patent
// Follows every frame from its launch time over the pins and back, and says when each should have left.
#pragma once

#include <deque>
#include <functional>

#include "module.h"

namespace gap {

/// The fate of a frame.
struct Fate {
  Launch launch;
  Time due = 0;      // the first byte time at or after its launch; of one that follows another, that at which it may
  Time expected = 0; // when its SFD must come, as the frames before it hold the wire
  unsigned ahead = 0; // frames that held the wire at `due` or came before it and still had to leave
  Time sfd = 0;      // at the transmit pins
  Stamp departure = 0;
  Time returned = 0; // at the receive pins
  Stamp received = 0;
};

class Bench : private Listener {
public:
  explicit Bench(const Clocks &clocks);

  Time now() const { return dut_.now(); }
  Time byteTime() const { return grid_.byteTime; }
  const ByteGrid &grid() const { return grid_; }
  Module &dut() { return dut_; }

  /// Gives a frame to the gate. `at` and `afterPrevious` only.
  void handIn(const Launch &launch);
  /// A frame of another sender comes: its fate has no departure.
  void arrive(std::uint64_t id, std::size_t length, Time sfd);
  /// A frame is given to the gate so long before its launch: as the pacer's grants are.
  static constexpr Time lead = nanoseconds(4000);
  /// Runs until so long before a launch that a frame can be handed in.
  void runToHandIn(Stamp launch) { run(timeOf(launch) - lead); }
  void run(Time until);
  /// Until all frames are back, and the MAC's counters with them; false if they do not come.
  bool finish();

  /// Each frame, once it has left and returned.
  std::function<void(const Fate &)> onFate = [](const Fate &) {};
  std::function<void(std::uint32_t flow, Stamp launch)> onGrant = [](std::uint32_t, Stamp) {};

  std::uint64_t frames() const { return frames_; }
  /// Frames that came in another order, damaged, or with another length than they were given.
  std::uint64_t wrong() const { return wrong_ + dut_.damaged(); }

private:
  void left(std::uint64_t id, std::size_t length, Time sfd) override;
  void returned(std::uint64_t id, Time sfd) override;
  void departed(Stamp stamp) override;
  void received(std::uint64_t id, Stamp stamp) override;
  void granted(std::uint32_t flow, Stamp launch) override { onGrant(flow, launch); }
  Fate &fate(std::uint64_t number) { return fates_[number - settled_]; }
  void settle();
  void skipIdle(Time until);

  Module dut_;
  ByteGrid grid_;
  std::deque<Fate> fates_; // from frame `settled_` on
  std::uint64_t frames_ = 0, settled_ = 0, left_ = 0, returned_ = 0, departed_ = 0, received_ = 0, wrong_ = 0;
  Time wireFree_ = 0;        // soonest SFD behind the frames handed in
  std::deque<Time> ends_;    // wireFree_ after each that may still hold the wire
};

} // namespace gap
