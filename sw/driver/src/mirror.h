// SPDX-License-Identifier: BSD-2-Clause-Patent
// A wire that leads back: what a device sends to another address arrives as if that address had sent it to the device.
// So a simulated device talks with itself over real frames.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "setup.h"

namespace downbeat {

class Mirror {
public:
  /// `other`: the address that stands for the device as well.
  Mirror(const Addresses &own, std::uint32_t other)
      : macs_{bytesOf<6>(own.mac), bytesOf<6>(own.mac ^ 1)}, ips_{bytesOf<4>(own.ip), bytesOf<4>(other)} {}

  /// Own and other addresses in the place of each other. The checksums stay: the sums have the same words.
  void reflect(std::uint8_t *frame, std::size_t length) const {
    constexpr std::size_t smallest = 42;
    if (length < smallest) return;
    const bool isArp = frame[12] == 8 && frame[13] == 6;
    for (const std::size_t at : {0, 6}) exchange(frame + at, macs_);
    if (isArp)
      for (const std::size_t at : {22, 32}) exchange(frame + at, macs_);
    for (const std::size_t at : isArp ? std::array{28, 38} : std::array{26, 30}) exchange(frame + at, ips_);
  }

private:
  template <std::size_t Size> using Name = std::array<std::uint8_t, Size>;
  template <std::size_t Size> using Names = std::array<Name<Size>, 2>;

  template <std::size_t Size> static Name<Size> bytesOf(std::uint64_t number) {
    Name<Size> name;
    for (std::size_t at = 0; at < Size; ++at) name[at] = static_cast<std::uint8_t>(number >> 8 * (Size - 1 - at));
    return name;
  }
  template <std::size_t Size> static void exchange(std::uint8_t *place, const Names<Size> &names) {
    for (const std::size_t each : {0, 1}) {
      if (std::memcmp(place, names[each].data(), Size) != 0) continue;
      std::memcpy(place, names[1 - each].data(), Size);
      return;
    }
  }

  Names<6> macs_;
  Names<4> ips_;
};

} // namespace downbeat
