// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "bench.h"

#include <algorithm>

namespace gap {

Bench::Bench(const Clocks &clocks) : dut_(clocks, *this), grid_(dut_.grid()) {}

void Bench::handIn(const Launch &launch) {
  Fate fate{.launch = launch};
  fate.due = launch.mode == LaunchMode::afterPrevious ? wireFree_ : grid_.atOrAfter(timeOf(launch.launch));
  while (!ends_.empty() && ends_.front() <= fate.due) ends_.pop_front();
  fate.ahead = static_cast<unsigned>(ends_.size());
  fate.expected = std::max(fate.due, wireFree_);
  wireFree_ = fate.expected + byteTimes(launch.length) * byteTime();
  ends_.push_back(wireFree_);
  fates_.push_back(fate);
  ++frames_;
  dut_.transmit(launch);
}

void Bench::arrive(std::uint64_t id, std::size_t length, Time sfd) {
  fates_.push_back({.launch = {id, length, LaunchMode::asap, 0}});
  ++frames_;
  ++left_;
  ++departed_;
  dut_.arrive(id, length, sfd);
}

void Bench::run(Time until) {
  constexpr std::uint64_t seldom = 16;
  while (dut_.now() < until) {
    dut_.step();
    if (dut_.simulatedClocks() % seldom == 0) skipIdle(until);
  }
}

bool Bench::finish() {
  constexpr int timeLimit = 1'000'000, counters = 100; // clocks
  for (int clocks = 0; settled_ < frames_ && clocks < timeLimit; ++clocks) {
    const std::uint64_t before = settled_;
    run(dut_.now() + byteTime());
    if (settled_ < frames_) skipIdle(fate(left_ < frames_ ? left_ : settled_).due);
    if (settled_ != before) clocks = 0;
  }
  for (int clocks = 0; clocks < counters; ++clocks) dut_.step();
  return settled_ == frames_;
}

void Bench::skipIdle(Time until) {
  // Clocks: a frame on its way to the gate, the gate's arithmetic; the copy of time in the core.
  constexpr Time forFrames = 48, forGrants = 16;
  if (!dut_.quiet()) return;
  Time target = until;
  if (left_ < frames_) target = std::min(target, fate(left_).due);
  const Module::Next next = dut_.nextGrant();
  if (next.armed) target = std::min(target, next.at);
  const Time clocks = (target - dut_.now()) / byteTime() - (left_ < frames_ ? forFrames : forGrants);
  if (clocks > 0) dut_.skip(static_cast<std::uint64_t>(clocks));
}

void Bench::left(std::uint64_t id, std::size_t length, Time sfd) {
  if (left_ == frames_) return void(++wrong_);
  Fate &frame = fate(left_++);
  wrong_ += frame.launch.id != id || std::max(frame.launch.length, downbeat::smallestFrame) != length;
  frame.sfd = sfd;
  settle();
}

void Bench::returned(std::uint64_t id, Time sfd) {
  if (returned_ == frames_) return void(++wrong_);
  wrong_ += fate(returned_).launch.id != id;
  fate(returned_++).returned = sfd;
  settle();
}

void Bench::departed(Stamp stamp) {
  if (departed_ == frames_) return void(++wrong_);
  fate(departed_++).departure = stamp;
  settle();
}

void Bench::received(std::uint64_t id, Stamp stamp) {
  if (received_ == frames_) return void(++wrong_);
  wrong_ += fate(received_).launch.id != id;
  fate(received_++).received = stamp;
  settle();
}

void Bench::settle() {
  for (; settled_ < std::min({left_, returned_, departed_, received_}); ++settled_) {
    onFate(fates_.front());
    fates_.pop_front();
  }
}

} // namespace gap
