// SPDX-License-Identifier: BSD-2-Clause-Patent
// The network side of a NIC process: a TAP interface, any other interface (one end of a veth), or the NIC itself.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file.h"
#include "mirror.h"

namespace downbeat::nic {

class Wire {
public:
  /// A TAP interface of that name; it is made if it is not there, and is up.
  static Wire tap(const std::string &name);
  /// All frames of an interface that is there, by a packet socket; it is up.
  static Wire interface(const std::string &name);
  /// What goes to `other` comes back from it.
  static Wire loop(const Addresses &own, std::uint32_t other);

  /// A frame waits that the descriptor does not tell of.
  bool waits() const { return !returned_.empty(); }
  int descriptor() const { return file_.get(); }
  /// Bytes of the next frame; 0: none waits.
  std::size_t read(std::span<std::uint8_t> frame);
  /// A frame that the interface does not take is lost, as on any wire.
  void write(std::span<const std::uint8_t> frame);

private:
  Wire() = default;
  explicit Wire(File file) : file_(std::move(file)) {}

  File file_;
  std::optional<Mirror> mirror_;
  std::deque<std::vector<std::uint8_t>> returned_;
};

} // namespace downbeat::nic
