// SPDX-License-Identifier: BSD-2-Clause-Patent
// Events of flows without a connection: they pass all stages and cause nothing, so that only the ports decide the
// order.
#pragma once

#include <vector>

#include "module.h"
#include "turn.h"

namespace events {

class Passing : public Load {
public:
  /// The ports take turns, so that round robin the flows come in order.
  Passing(Order order, unsigned count, std::uint64_t seed) {
    for (unsigned p = 0; p < speaking; ++p) turns_.emplace_back(order, count, p, speaking, seed + p);
  }

  bool offer(Port port, Pins &pins, std::uint64_t) override {
    if (port == directory) return false;
    Turn &turn = turns_[port - placed];
    const auto flow = static_cast<CData>(turn.flow());
    turn.next();
    switch (port) {
    case placed: pins.placed_payload_reference_flow = flow; break;
    case application:
      pins.application_payload_flow = flow;
      pins.application_payload_kind = DOWNBEAT_EVENT_KIND_WRITTEN;
      break;
    case grants: pins.grants_payload_reference_flow = flow; break;
    case departed: pins.departed_payload_reference_flow = flow; break;
    default: pins.timers_payload_reference_flow = flow; break;
    }
    return true;
  }
  void see(const Pins &, std::uint64_t) override {}

private:
  static constexpr unsigned speaking = ports - placed; // all but the directory, which would refuse such segments

  std::vector<Turn> turns_;
};

} // namespace events
