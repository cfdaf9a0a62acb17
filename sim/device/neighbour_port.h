// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's port for static neighbours.
#pragma once

#include <cstdint>
#include <deque>

#include "model.h"

namespace downbeat {

class NeighbourPort {
public:
  /// `mac`: first byte of the wire in bits 47 to 40.
  void add(std::uint32_t ip, std::uint64_t mac) { entries_.push_back({ip, mac}); }
  bool active() const { return !entries_.empty(); }

  void drive(Pins &pins) const {
    pins.s_axis_neighbour_tvalid = active();
    if (!active()) return;
    pins.s_axis_neighbour_tdata[0] = entries_.front().ip;
    pins.s_axis_neighbour_tdata[1] = static_cast<std::uint32_t>(entries_.front().mac);
    pins.s_axis_neighbour_tdata[2] = static_cast<std::uint32_t>(entries_.front().mac >> 32);
  }

  /// True if anything was handed over.
  bool sample(const Pins &pins) {
    const bool taken = pins.s_axis_neighbour_tvalid && pins.s_axis_neighbour_tready;
    if (taken) entries_.pop_front();
    return taken;
  }

private:
  struct Entry {
    std::uint32_t ip;
    std::uint64_t mac;
  };
  std::deque<Entry> entries_;
};

} // namespace downbeat
