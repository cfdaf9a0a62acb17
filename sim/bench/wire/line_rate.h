// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames back to back, both ways at once: through the MAC to the parser, and from the core to the wire.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wire {

/// Lengths from `first` to `last` in turn, with their FCS; `corePeriod` is in ps. Prints one JSON object; true if
/// nothing was lost, damaged or late.
bool lineRate(std::size_t first, std::size_t last, std::uint64_t frames, std::uint64_t corePeriod);

} // namespace wire
