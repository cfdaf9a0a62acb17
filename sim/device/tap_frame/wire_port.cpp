// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "wire_port.h"

#include <bit>

namespace downbeat {

namespace {

/// Appends a beat at `position`; returns the position behind it.
template <class Data> std::uint32_t append(Frame &frame, std::uint32_t position, const Data &data, Keep keep) {
  if (position + beatBytes > sizeof frame.bytes) return position; // cut; its length says so
  getBeat(frame.bytes + position, data);
  return position + static_cast<std::uint32_t>(std::popcount(keep));
}

} // namespace

void WireReceive::put(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp stamp, Stamp due) {
  Waiting &frame = waiting_.emplace_back();
  frame.bytes.reserve(length + beatBytes);
  frame.bytes.assign(bytes, bytes + length);
  frame.bytes.resize((length + beatBytes - 1) / beatBytes * beatBytes);
  frame.length = static_cast<std::uint32_t>(length);
  frame.damaged = damaged;
  frame.stamp = stamp;
  frame.due = due;
}

void WireReceive::drive(Pins &pins, Stamp now) {
  if (position_ == idle) {
    pins.s_axis_wire_rx_tvalid = 0;
    if (waiting_.empty() || waiting_.front().due > now) return;
    position_ = 0;
    const Stamp stamp = waiting_.front().stamp;
    pins.s_axis_wire_rx_tuser[0] = static_cast<std::uint32_t>(stamp);
    pins.s_axis_wire_rx_tuser[1] = static_cast<std::uint32_t>(stamp >> 32);
    pins.s_axis_wire_rx_tuser[2] = waiting_.front().damaged; // counts with the last beat
    pins.s_axis_wire_rx_tvalid = 1;
  }
  const Waiting &frame = waiting_.front();
  const std::uint32_t rest = frame.length - position_;
  setBeat(pins.s_axis_wire_rx_tdata, frame.bytes.data() + position_);
  pins.s_axis_wire_rx_tlast = rest <= beatBytes;
  pins.s_axis_wire_rx_tkeep = keepOf(std::min<std::size_t>(rest, beatBytes));
}

bool WireReceive::taken() {
  position_ += beatBytes;
  if (position_ < waiting_.front().length) return false;
  waiting_.pop_front();
  position_ = idle;
  return true;
}

bool WireTransmit::ready(const Pins &pins) const {
  // The offered beat's own mode decides: a gate with a store for each kind looks at it too.
  return position_ != 0 || departures_.gate.ready(static_cast<LaunchMode>(pins.m_axis_wire_tx_tuser[2] & 3));
}

void WireTransmit::drive(Pins &pins, Stamp now) {
  pins.m_axis_wire_tx_tready = ready(pins);
  const auto departure = departures_.takeStamp(now);
  pins.s_axis_departure_tvalid = departure.has_value();
  if (!departure) return;
  const std::uint16_t tag = departure->tag;
  const Stamp stamp = departure->stamp + departures_.base;
  pins.s_axis_departure_tdata[0] = tag | static_cast<std::uint32_t>(stamp << 16);
  pins.s_axis_departure_tdata[1] = static_cast<std::uint32_t>(stamp >> 16);
  pins.s_axis_departure_tdata[2] = static_cast<std::uint32_t>(stamp >> 48);
}

void WireTransmit::taken(const Pins &pins, Stamp now) {
  Frame &frame = departures_.gate.filling();
  position_ = append(frame, position_, pins.m_axis_wire_tx_tdata, pins.m_axis_wire_tx_tkeep);
  if (!pins.m_axis_wire_tx_tlast) return;
  frame.length = position_;
  position_ = 0;
  const auto &user = pins.m_axis_wire_tx_tuser;
  frame.tag = static_cast<std::uint16_t>(user[2] >> 2);
  departures_.gate.push(static_cast<LaunchMode>(user[2] & 3), (Stamp{user[1]} << 32 | user[0]) - departures_.base, now);
}

void Bypass::reset() {
  toSend.clear();
  sent_ = filled_ = 0;
}

void Bypass::drive(Pins &pins) const {
  pins.m_axis_bypass_rx_tready = !stalled;
  pins.s_axis_bypass_tx_tvalid = active();
  if (!active()) return;
  const Frame &frame = toSend.front();
  const std::uint32_t rest = frame.length - sent_;
  setBeat(pins.s_axis_bypass_tx_tdata, frame.bytes + sent_);
  pins.s_axis_bypass_tx_tlast = rest <= beatBytes;
  pins.s_axis_bypass_tx_tkeep = keepOf(std::min<std::size_t>(rest, beatBytes));
}

void Bypass::sample(const Pins &pins) {
  if (pins.s_axis_bypass_tx_tvalid && pins.s_axis_bypass_tx_tready) {
    sent_ += beatBytes;
    if (pins.s_axis_bypass_tx_tlast) {
      toSend.pop_front();
      sent_ = 0;
    }
  }
  if (pins.m_axis_bypass_rx_tvalid && pins.m_axis_bypass_rx_tready) {
    filled_ = append(filling_, filled_, pins.m_axis_bypass_rx_tdata, pins.m_axis_bypass_rx_tkeep);
    if (pins.m_axis_bypass_rx_tlast) {
      filling_.length = filled_;
      filled_ = 0;
      received.push_back(filling_);
      ++frames;
    }
  }
}

} // namespace downbeat
