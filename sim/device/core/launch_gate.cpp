// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "launch_gate.h"

namespace downbeat {

void LaunchGate::push(LaunchMode mode, Stamp launch, Stamp now) {
  const std::uint64_t complete = byteAt(now + latency);
  std::uint64_t earliest = complete;
  bool arrivedLate = false, inverted = false;
  if (mode == LaunchMode::at) {
    earliest = std::max(complete, byteAt(launch));
    arrivedLate = complete > byteAt(launch);
    inverted = launch < lastLaunch_;
    lastLaunch_ = launch;
  }
  (mode == LaunchMode::asap ? asap_ : timed_).push_back({filling_, mode, launch, earliest, arrivedLate, inverted});
  const bool decided = next_ != never && nextByte_ < complete;
  if (!decided) choose();
}

void LaunchGate::choose() {
  next_ = never;
  const std::uint64_t timed = timed_.empty() ? UINT64_MAX : std::max(timed_.front().earliest, free_);
  if (!asap_.empty()) {
    const std::uint64_t asap = std::max(asap_.front().earliest, free_);
    const bool pairGoesOn = !timed_.empty() && timed_.front().mode == LaunchMode::afterPrevious;
    const bool late = !timed_.empty() && timed > byteAt(timed_.front().launch);
    // Without a timed frame the sum is never reached.
    const bool fits = asap < timed && bytesOf(asap_.front().frame) <= timed - asap;
    nextIsAsap_ = !pairGoesOn && (fits || asap <= timed && late && !lastIsAsap_);
    nextByte_ = nextIsAsap_ ? asap : timed;
  } else {
    nextIsAsap_ = false;
    nextByte_ = timed;
  }
  if (nextByte_ != UINT64_MAX) next_ = timeOf(nextByte_);
}

void LaunchGate::reset() {
  timed_.clear();
  asap_.clear();
  lastIsAsap_ = heldByTimed_ = false;
  choose();
}

void LaunchGate::rebase(Stamp by) {
  const std::uint64_t bytes = byteAt(by);
  for (auto *queue : {&timed_, &asap_})
    for (Waiting &each : *queue) {
      each.launch -= by;
      each.earliest -= bytes;
    }
  free_ = std::max(free_, bytes) - bytes;
  lastLaunch_ = std::max(lastLaunch_, by) - by;
  if (next_ == never) return;
  nextByte_ -= bytes;
  next_ = timeOf(nextByte_);
}

Frame LaunchGate::depart() {
  auto &queue = nextIsAsap_ ? asap_ : timed_;
  Waiting waiting = queue.front();
  queue.pop_front();
  waiting.frame.time = next_;
  const bool held = heldByTimed_ && nextByte_ == free_;
  lastIsAsap_ = nextIsAsap_;
  heldByTimed_ = !nextIsAsap_;
  if (waiting.mode == LaunchMode::at && next_ > timeOf(byteAt(waiting.launch))) {
    const Cause cause = waiting.arrivedLate && !held ? arrived : waiting.inverted ? inverted : busy;
    ++late_[cause];
    if (cause == arrived) heldByTimed_ = false;
    worstLateness_ = std::max(worstLateness_, next_ - waiting.launch);
  }
  free_ = nextByte_ + bytesOf(waiting.frame);
  choose();
  return waiting.frame;
}

} // namespace downbeat
