// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arguments of the build's policies, as rtl/downbeat/congestion/Argument.scala declares it.
#pragma once

#include <cstdint>
#include <string>

namespace downbeat {

enum class PolicyFamily { startup, steady };

/// The problem of an argument (low word first) for the policy of that number; empty: nothing.
std::string argumentProblem(PolicyFamily family, int policy, const std::uint64_t (&argument)[2]);

} // namespace downbeat
