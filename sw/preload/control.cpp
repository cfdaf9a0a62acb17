// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "control.h"

#include <algorithm>

namespace downbeat {

std::uint32_t keepAliveUnits(std::uint32_t seconds) {
  if (seconds == 0) return 0;
  constexpr std::uint64_t second = 1'000'000'000;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(seconds * second >> 30, 1, 65535));
}

} // namespace downbeat
