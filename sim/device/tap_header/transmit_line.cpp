// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "transmit_line.h"

#include <algorithm>
#include <cstring>

namespace downbeat {

namespace {

/// Addresses and ports.
bool sameFlow(const Frame &one, const Frame &other) {
  constexpr std::size_t begin = 26, end = 38;
  return std::memcmp(one.bytes + begin, other.bytes + begin, end - begin) == 0;
}

} // namespace

bool TransmitLine::dataWaits(const Frame &frame) const {
  if (passing_ && inSerialiser_ && dataOwns_ && sameFlow(passing_->frame, frame)) return true;
  return std::ranges::any_of(data_, [&](const Waiting &waiting) { return sameFlow(waiting.frame, frame); });
}

void TransmitLine::put(const Frame &frame, LaunchMode mode, Stamp launch, std::uint32_t sequence, std::size_t length,
                       bool mayOvertake, Stamp now) {
  const bool immediate = mayOvertake && !dataWaits(frame);
  Stamp ready = now + (immediate ? immediateLatency : dataLatency);
  if (length != 0) {
    const Stamp headers = (frame.length - length + 7) / 8 * clockPeriod;
    // Bursts come every other clock: behind one of a single word, a page's last, there is a gap.
    const std::size_t first = page - sequence % page;
    const Stamp gap = first <= beatBytes && first < length ? clockPeriod : 0;
    ready = fetch_.pass(now + fetchLatency - headers + gap, length) + sumLatency;
  }
  (immediate ? immediate_ : data_).push_back({frame, mode, launch, ready});
}

TransmitLine::Turn TransmitLine::turn() const {
  const Stamp free = out_.free();
  // Only the end of a data frame changes the owner at once.
  if (dataOwns_ && readyOf(immediate_) < free) return {true, free};
  const Stamp immediate = std::max(free, readyOf(immediate_)), data = std::max(free, readyOf(data_));
  const bool takesImmediate = dataOwns_ ? immediate < data : immediate <= data;
  const bool changesOwner = takesImmediate == dataOwns_;
  return {takesImmediate, (takesImmediate ? immediate : data) + (changesOwner ? clockPeriod : 0)};
}

void TransmitLine::run(Stamp now) {
  for (;;) {
    if (passing_) {
      inSerialiser_ = out_.free() - serialiserLead > now;
      if (out_.free() > now) return;
      gate_.filling() = passing_->frame;
      gate_.push(passing_->mode, passing_->launch, out_.free());
      passing_.reset();
    }
    const Turn next = turn();
    if (next.start > now) return;
    const bool waited = std::exchange(blocked_, !hasSpace(next));
    if (blocked_) return;
    // One that has waited for the gate stands behind the merge.
    out_.pass(waited ? nextClock(now) - clockPeriod : next.start, line(next).front().frame.length);
    dataOwns_ = !next.immediate;
    passing_ = line(next).front();
    inSerialiser_ = true;
    line(next).pop_front();
  }
}

Stamp TransmitLine::nextInstant() const {
  if (passing_) return out_.free() - (inSerialiser_ ? serialiserLead : 0);
  const Turn next = turn();
  return next.start == never || !hasSpace(next) ? never : next.start;
}

void TransmitLine::reset() {
  immediate_.clear();
  data_.clear();
  passing_.reset();
  inSerialiser_ = dataOwns_ = blocked_ = false;
  fetch_.reset();
  out_.reset();
}

} // namespace downbeat
