// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's port for static neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/core/model.h"

namespace downbeat {

/// Keeps the entries: it gives them to the core again after a reset.
class NeighbourPort {
public:
  /// `mac`: first byte of the wire in bits 47 to 40.
  void add(std::uint32_t ip, std::uint64_t mac) { entries_.push_back({ip, mac}); }
  bool active() const { return given_ < entries_.size(); }
  void reset() { given_ = 0; }

  void drive(Pins &pins) const {
    pins.s_axis_neighbour_tvalid = active() && !pins.reset;
    if (!active()) return;
    const Entry &entry = entries_[given_];
    pins.s_axis_neighbour_tdata[0] = entry.ip;
    pins.s_axis_neighbour_tdata[1] = static_cast<std::uint32_t>(entry.mac);
    pins.s_axis_neighbour_tdata[2] = static_cast<std::uint32_t>(entry.mac >> 32);
  }

  /// True if anything was handed over.
  bool sample(const Pins &pins) {
    const bool taken = pins.s_axis_neighbour_tvalid && pins.s_axis_neighbour_tready;
    if (taken) ++given_;
    return taken;
  }

private:
  struct Entry {
    std::uint32_t ip;
    std::uint64_t mac;
  };
  std::vector<Entry> entries_;
  std::size_t given_ = 0;
};

} // namespace downbeat
