// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "transmit_line.h"

namespace downbeat {

void TransmitLine::put(const Frame &frame, LaunchMode mode, Stamp launch, std::size_t payload, bool immediate, Stamp now) {
  const Stamp ready = payload != 0 ? fetch_.pass(now + fetchLatency, payload) + headerLatency : now + headerLatency;
  (immediate ? immediate_ : data_).push_back({frame, mode, launch, ready});
}

void TransmitLine::run(Stamp now) {
  for (;;) {
    if (passing_) {
      if (out_.free() > now) return;
      gate_.filling() = passing_->frame;
      gate_.push(passing_->mode, passing_->launch, out_.free());
      passing_.reset();
    }
    if (turn() > now) return;
    const bool waited = std::exchange(blocked_, !hasRoom());
    if (blocked_) return;
    std::deque<Waiting> &line = next();
    out_.pass(waited ? now : turn(), line.front().frame.length);
    passing_ = line.front();
    line.pop_front();
  }
}

Stamp TransmitLine::nextInstant() const {
  if (passing_) return out_.free();
  return turn() == never || !hasRoom() ? never : turn();
}

void TransmitLine::reset() {
  immediate_.clear();
  data_.clear();
  passing_.reset();
  blocked_ = false;
  fetch_.reset();
  out_.reset();
}

} // namespace downbeat
