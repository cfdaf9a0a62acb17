// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "host_device.h"

#include <array>

namespace downbeat {

namespace {
constexpr unsigned resetClocks = 8;
constexpr Stamp second = Stamp{1'000'000'000} << 16;
// Nothing that is kept is further back than the one; from the other it is as far to a wrap as `advance` may ask.
constexpr Stamp maxPast = Stamp{1} << 62, latest = Stamp{1} << 63;
} // namespace

HostDevice::HostDevice(std::uint64_t linkRate)
    : model_(0),
      departures_(linkRate),
      transmit_(departures_),
      payload_(PayloadPort(model_.pins), memory),
      rings_(RingPort(model_.pins), memory) {
  model_.pins.reset = 1;
  for (unsigned left = resetClocks; left > 0; --left) clock(lastEdge_ + clockPeriod);
  model_.pins.reset = 0;
  quietClocks_ = 0;
}

Stamp HostDevice::nextEdge() const {
  const Pins &pins = model_.pins;
  const bool busy = receive_.active() || bypass_.active() || payload_.active() || rings_.active() || bus_.active() ||
                    (!pins.idle && !pins.core_reset);
  if (busy || quietClocks_ < settling) return std::max(lastEdge_ + clockPeriod, nextClock(now_));
  Stamp wake = std::min(receive_.nextInstant(), departures_.nextStamp());
  constexpr std::uint64_t noDeadline = (std::uint64_t{1} << 48) - 1;
  if (!pins.core_reset && pins.nextDeadline != noDeadline)
    wake = std::min(wake, within(Stamp{pins.nextDeadline} << 16));
  if (wake == never) return never;
  return std::max({nextClock(wake), lastEdge_ + clockPeriod, nextClock(now_)});
}

void HostDevice::rebase() {
  const Stamp by = (now_ - maxPast) / second * second;
  now_ -= by;
  lastEdge_ = std::max(lastEdge_, by) - by;
  departures_.rebase(by);
  receive_.rebase(by);
}

void HostDevice::advance(Stamp time) {
  const Stamp until = within(time);
  for (;;) {
    const Stamp edge = nextEdge(), departure = departures_.gate.nextDeparture();
    if (std::min(edge, departure) > until) break;
    if (edge <= departure) {
      clock(edge);
    } else { // nothing to the core but perhaps its consequences: a stamp, space in the gate
      departures_.run(departure);
      now_ = std::max(now_, departure);
    }
  }
  now_ = std::max(now_, until);
  if (now_ >= latest) rebase();
}

bool HostDevice::read(std::uint32_t address, std::uint32_t &value) {
  bus_.read(address);
  while (bus_.active()) {
    const Stamp edge = std::max(lastEdge_ + clockPeriod, nextClock(now_));
    departures_.run(edge);
    clock(edge);
  }
  value = bus_.value();
  return !bus_.failed();
}

void HostDevice::clock(Stamp edge) {
  Pins &pins = model_.pins;
  departures_.run(edge);
  receive_.drive(pins, edge);
  transmit_.drive(pins, edge);
  bypass_.drive(pins);
  payload_.drive();
  rings_.drive();
  bus_.drive(pins);
  // The application in the fabric: there is none.
  pins.s_axis_command_tvalid = pins.s_axis_tx_tvalid = 0;
  pins.m_axis_notification_tready = pins.m_axis_rx_tready = 1;
  model_.settle(edge + departures_.base);

  bool moved = edge != lastEdge_ + clockPeriod;
  if (!pins.reset) moved |= sample(edge); // a core's outputs mean nothing in reset
  model_.edge();
  interrupts_ = pins.reset ? 0 : pins.__SYM__interrupt; // Verilator takes the name for a word of C
  lastEdge_ = edge;
  now_ = std::max(now_, edge);
  quietClocks_ = moved ? 0 : quietClocks_ + 1;
}

bool HostDevice::sample(Stamp edge) {
  const Pins &pins = model_.pins;
  // By a stamp the core is not awake before the next clock.
  bool moved = bus_.sample(pins) | pins.s_axis_departure_tvalid;
  if (pins.core_reset) { // wire and gate forget with it
    departures_.reset();
    transmit_.reset();
    bypass_.reset();
    payload_.reset();
    rings_.reset();
  }
  if (pins.s_axis_wire_rx_tvalid && pins.s_axis_wire_rx_tready) {
    receive_.taken();
    moved = true;
  }
  if (pins.core_reset) return moved;
  moved |= payload_.sample();
  moved |= rings_.sample();
  bypass_.sample(pins);
  if (pins.m_axis_wire_tx_tvalid && pins.m_axis_wire_tx_tready) {
    transmit_.taken(pins, edge);
    moved = true;
  }
  return moved;
}

bool HostDevice::putFrame(const std::uint8_t *bytes, std::size_t length, Stamp arrival) {
  if (length < 14 || length > largestFrame) return false;
  std::array<std::uint8_t, smallestFrame> padded{};
  if (length < smallestFrame) {
    std::memcpy(padded.data(), bytes, length);
    bytes = padded.data();
    length = padded.size();
  }
  receive_.put(bytes, length, false, arrival, within(arrival) + departures_.gate.lastByteAfterSfd(length));
  return true;
}

} // namespace downbeat
