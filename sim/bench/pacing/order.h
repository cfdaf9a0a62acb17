// SPDX-License-Identifier: BSD-2-Clause-Patent
// Many flows at once: is the earliest always the next, and how many clocks does it take?
#pragma once

#include <cstdint>
#include <string>

namespace pacing {

/// At least `count` grants of all flows of this build; members of a JSON object. Throws Failure.
std::string order(std::uint64_t seed, std::uint64_t count);

} // namespace pacing
