// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames with launch times at the XGMII pins, checked against the clause and the launches alone.
#pragma once

#include <cstdint>

namespace ten {

/// Prints one JSON object; true if no frame was early, late, damaged or out of its gap, and every stamp was right.
bool launches(std::uint64_t frames, std::uint64_t seed);

} // namespace ten
