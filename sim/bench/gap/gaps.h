// SPDX-License-Identifier: BSD-2-Clause-Patent
// The gap between two frames: as requested, as it stood at the pins both ways, and as the stamps have it.
#pragma once

#include "figures.h"

namespace gap {

class Gaps {
public:
  /// Two frames in a row; `requested` is the gap between their SFDs.
  void add(const Fate &first, const Fate &second, Time requested);
  void report(Object &object) const;

private:
  static constexpr std::size_t drawn = 500; // points of the plot

  std::uint64_t count_ = 0;
  Spread sent_, measured_;
  Time shortest_ = 0, longest_ = 0;
  std::string points_;
};

} // namespace gap
