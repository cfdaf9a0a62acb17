// SPDX-License-Identifier: BSD-2-Clause-Patent
// The RTL's launch gate against the model of the 64-bit tap: the same frames, and each departure stamp must be the
// same.
#pragma once

#include <cstdint>

namespace wire {

/// Prints one JSON object; true if all stamps and counts of late frames are equal.
bool launchTrace(std::uint64_t frames, std::uint64_t seed);

} // namespace wire
