// SPDX-License-Identifier: BSD-2-Clause-Patent
// Fields of the wide command and notification words, by the offsets that the RTL generates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace downbeat {

/// Packed bits, bit 0 first, as Verilator keeps a wide port.
template <std::size_t Bits> using Words = std::array<std::uint32_t, (Bits + 31) / 32>;

template <std::size_t N> std::uint64_t getBits(const std::array<std::uint32_t, N> &words, unsigned offset,
                                               unsigned width) {
  std::uint64_t value = 0;
  for (unsigned bit = 0; bit < width;) {
    const unsigned shift = (offset + bit) % 32;
    value |= std::uint64_t{words[(offset + bit) / 32] >> shift} << bit;
    bit += 32 - shift;
  }
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

/// Sets a field of a word whose bits there are zero.
template <std::size_t N> void setBits(std::array<std::uint32_t, N> &words, unsigned offset, unsigned width,
                                      std::uint64_t value) {
  if (width < 64) value &= (std::uint64_t{1} << width) - 1;
  for (unsigned bit = 0; bit < width;) {
    const unsigned shift = (offset + bit) % 32;
    words[(offset + bit) / 32] |= static_cast<std::uint32_t>((value >> bit) << shift);
    bit += 32 - shift;
  }
}

} // namespace downbeat

/// One field, named as in downbeat_layout.h: DOWNBEAT_GET(words, NOTIFICATION, STATUS_STATE).
#define DOWNBEAT_GET(words, bundle, field)                                                                             \
  ::downbeat::getBits(words, DOWNBEAT_##bundle##_##field##_OFFSET, DOWNBEAT_##bundle##_##field##_WIDTH)
#define DOWNBEAT_SET(words, bundle, field, value)                                                                      \
  ::downbeat::setBits(words, DOWNBEAT_##bundle##_##field##_OFFSET, DOWNBEAT_##bundle##_##field##_WIDTH, value)
