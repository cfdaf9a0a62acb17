// SPDX-License-Identifier: BSD-2-Clause-Patent
// Parameters of a connection on their way into a core's command: limits, defaults.
#pragma once

#include <cstdint>
#include <string>

#include "downbeat_parameters.h"
#include "downbeat_types.h"

namespace downbeat {

inline constexpr std::uint32_t defaultInitialWindow = 10; // segments (RFC 6928)
inline constexpr std::uint32_t maxSsthresh = 1 << 30;     // bytes: no window is larger

/// Names the first parameter that is out of its range; empty: all are in range. Policies are not looked at.
std::string rangeProblem(const downbeat_parameters &parameters);

/// The same parameters, with a default in place of an initial window or ssthresh of 0.
downbeat_parameters withDefaults(downbeat_parameters parameters);

} // namespace downbeat
