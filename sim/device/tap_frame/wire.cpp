// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "wire.h"

namespace downbeat {

void Wire::setAddresses(Pins &pins) const {
  pins.local_mac = own_.mac & 0xffff'ffff'ffff;
  pins.local_ip = own_.ip;
  pins.local_netmask = own_.netmask;
  pins.local_gateway = own_.gateway;
}

void Wire::drive(Pins &pins, Stamp now) {
  receive_.drive(pins, now);
  transmit_.drive(pins, now);
  bypass_.drive(pins);
  neighbours_.drive(pins);
}

bool Wire::sample(const Pins &pins, Stamp now) {
  bool moved = pins.s_axis_departure_tvalid; // the core is not awake by it before the next clock
  if (pins.s_axis_wire_rx_tvalid && pins.s_axis_wire_rx_tready) {
    receive_.taken();
    moved = true;
  }
  if (pins.reset) return moved; // a core's outputs mean nothing in reset
  moved |= neighbours_.sample(pins);
  bypass_.sample(pins);
  if (pins.m_axis_wire_tx_tvalid && pins.m_axis_wire_tx_tready) {
    transmit_.taken(pins, now);
    moved = true;
  }
  return moved;
}

void Wire::reset() {
  departures_.reset();
  transmit_.reset();
  bypass_.reset();
  neighbours_.reset();
}

} // namespace downbeat
