// SPDX-License-Identifier: BSD-2-Clause-Patent
// Numbers of a policy's argument, by the places that the RTL gives them.
#pragma once

#include <cstdint>
#include <string_view>

#include "downbeat_policies.h"

namespace downbeat {

/// The place of a number in a policy's argument.
struct ArgumentField {
  unsigned offset = 0, bits = 0, fraction = 0;

  constexpr std::uint64_t max() const { return ~std::uint64_t{0} >> (64 - bits); }
};

/// The field of a start-up policy that this library was built with; another name does not compile.
consteval ArgumentField startupField(std::string_view policy, std::string_view name) {
#define DOWNBEAT_FIELD(ofPolicy, itsName, offset, bits, fraction)                                                      \
  if (policy == ofPolicy && name == itsName) return {offset, bits, fraction};
  DOWNBEAT_STARTUP_ARGUMENTS(DOWNBEAT_FIELD)
#undef DOWNBEAT_FIELD
  throw "no such argument";
}

/// Writes a number that has the field's fraction bits into its place, or the largest that fits.
constexpr void putBits(std::uint64_t (&argument)[2], ArgumentField field, std::uint64_t value) {
  const std::uint64_t bits = value > field.max() ? field.max() : value;
  const unsigned word = field.offset / 64, shift = field.offset % 64;
  argument[word] |= bits << shift;
  if (shift + field.bits > 64) argument[1] |= bits >> (64 - shift);
}

/// Writes a whole number into its place, or the largest that fits.
constexpr void put(std::uint64_t (&argument)[2], ArgumentField field, std::uint64_t value) {
  putBits(argument, field, value > field.max() >> field.fraction ? field.max() : value << field.fraction);
}

} // namespace downbeat
