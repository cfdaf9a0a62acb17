// SPDX-License-Identifier: BSD-2-Clause-Patent
// One end of a TAP interface: whole Ethernet frames from and to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

class Tap {
public:
  /// Attaches to the interface `name` of this network namespace; throws std::system_error. No checksum or segmentation
  /// is left to this side: frames come complete and no longer than the MTU says.
  explicit Tap(const std::string &name);
  ~Tap();
  Tap(const Tap &) = delete;
  Tap &operator=(const Tap &) = delete;

  int descriptor() const { return descriptor_; }
  /// Bytes of the next frame, in `frame`; 0 if none waits.
  std::size_t read(std::span<std::uint8_t> frame);
  void write(std::span<const std::uint8_t> frame);

private:
  int descriptor_;
};
