// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames of the run's real traffic, the newest and some old ones: what mutants are made of.
#pragma once

#include "lib/packets/draw.h"
#include "lib/packets/packet.h"

namespace fuzz {

class Corpus {
public:
  /// Keeps a copy, in place of another one when there are many.
  void record(const Bytes &frame, Draw &draw) {
    if (frames_.size() < capacity)
      frames_.push_back(frame);
    else
      frames_[draw.below(capacity)] = frame;
  }
  const Bytes &any(Draw &draw) const { return draw.pick(frames_); }

private:
  static constexpr std::size_t capacity = 512;
  std::vector<Bytes> frames_;
};

} // namespace fuzz
