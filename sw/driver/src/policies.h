// SPDX-License-Identifier: BSD-2-Clause-Patent
// The congestion policies that this library was built with, by name and number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "downbeat_policies.h"

namespace downbeat {

enum class PolicyFamily { startup, steady };

/// CRC-32 of names, numbers and arguments, as the core has it of its own.
std::uint32_t policyHash();
/// nullptr: no such number.
const char *policyName(PolicyFamily family, unsigned number);
/// All that this library was built with, with commas between.
std::string policyNames(PolicyFamily family);
/// By name, or by number ("3"), which any core takes; `known`: the core has this library's policies.
std::optional<std::uint8_t> policyNumber(PolicyFamily family, std::string_view name, bool known);

} // namespace downbeat
