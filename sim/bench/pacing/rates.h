// SPDX-License-Identifier: BSD-2-Clause-Patent
// One flow: does it depart at its rate, for long, through changes of the rate, and spread over a round-trip time?
#pragma once

#include <cstdint>
#include <string>

namespace pacing {

/// Segments at `rate` b/s for `milliseconds` of its time; members of a JSON object, as of all these. They throw
/// Failure.
std::string rate(std::uint64_t seed, std::uint64_t rate, std::uint64_t milliseconds);
/// So many segments, each at another rate, of two flows that are not to disturb each other.
std::string changes(std::uint64_t seed, std::uint64_t segments);
/// n segments of `length` bytes over `duration` ns.
std::string flight(std::uint64_t segments, std::uint64_t duration, std::uint64_t length);

} // namespace pacing
