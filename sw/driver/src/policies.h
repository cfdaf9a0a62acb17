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

/// Where a number of a policy's argument lies.
struct ArgumentField {
  unsigned offset = 0, bits = 0, fraction = 0;

  constexpr std::uint64_t largest() const { return ~std::uint64_t{0} >> (64 - bits); }
};

/// The field of a policy that this library was built with; another name does not compile.
consteval ArgumentField startupField(std::string_view policy, std::string_view name) {
#define DOWNBEAT_FIELD(ofPolicy, itsName, offset, bits, fraction)                                                      \
  if (policy == ofPolicy && name == itsName) return {offset, bits, fraction};
  DOWNBEAT_STARTUP_ARGUMENTS(DOWNBEAT_FIELD)
#undef DOWNBEAT_FIELD
  throw "no such argument";
}

/// Writes a whole number into its place, or the largest that fits.
constexpr void put(std::uint64_t (&argument)[2], ArgumentField field, std::uint64_t value) {
  const std::uint64_t bits = value > field.largest() >> field.fraction ? field.largest() : value << field.fraction;
  const unsigned word = field.offset / 64, shift = field.offset % 64;
  argument[word] |= bits << shift;
  if (shift + field.bits > 64) argument[1] |= bits >> (64 - shift);
}

} // namespace downbeat
