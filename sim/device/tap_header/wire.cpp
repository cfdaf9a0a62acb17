// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "wire.h"

namespace downbeat {

void Wire::put(const std::uint8_t *bytes, std::size_t length, bool damaged, Stamp arrival, Stamp due) {
  const Stamp passed = stream_.pass(due, length);
  Segment segment;
  const Arrival whose = damaged ? Arrival::refused : parse(bytes, length, own_, segment);
  if (whose == Arrival::ours) {
    const Stamp values = segment.optionWords < longValuesWords ? 0 : longValuesLatency;
    arrived_.push_back({segment, arrival, passed + parserLatency + values});
  } else if (whose == Arrival::refused || length > largestFrame) {
    ++refused_;
  } else {
    Frame &frame = bypass_.received.emplace_back();
    std::memcpy(frame.bytes, bytes, length);
    frame.length = static_cast<std::uint32_t>(length);
    ++bypass_.frames;
  }
}

void Wire::run(Stamp now) {
  departures_.run(now);
  line_.run(now);
}

void Wire::drive(Pins &pins, Stamp now) {
  offered_ = !arrived_.empty() && arrived_.front().due <= now;
  pins.received_valid = offered_;
  if (offered_) arrived_.front().segment.drive(pins, arrived_.front().stamp);

  const auto departure = departures_.takeStamp(now);
  pins.departures_valid = departure.has_value();
  if (departure) {
    pins.departures_payload_tag = departure->tag;
    pins.departures_payload_stamp_fraction = departure->stamp & 0xffff;
    pins.departures_payload_stamp_ns = departure->stamp >> 16;
  }

  for (; !bypass_.toSend.empty() && line_.ready(); bypass_.toSend.pop_front())
    line_.put(bypass_.toSend.front(), LaunchMode::asap, 0, 0, 0, false, now);
  pins.outgoing_ready = line_.ready();
}

bool Wire::sample(const Pins &pins, Stamp now) {
  bool moved = pins.departures_valid; // the core is not awake by it before the next clock
  if (pins.received_valid && pins.received_ready) {
    arrived_.pop_front();
    offered_ = false;
    moved = true;
  }
  if (pins.reset || !pins.outgoing_valid || !pins.outgoing_ready) return moved;
  take(pins, now);
  return true;
}

void Wire::take(const Pins &pins, Stamp now) {
  Frame frame;
  const std::size_t payload = build(pins, own_, frame);
  // Connections that were opened from here have no MAC in the core.
  if (pins.outgoing_payload_header_remoteMac == 0)
    setDestination(frame, neighbours_.at(nextHop(pins.outgoing_payload_header_remoteIp)));
  const auto mode = static_cast<LaunchMode>(pins.outgoing_payload_mode);
  const Stamp launch = Stamp{pins.outgoing_payload_launch_ns} << 16 | pins.outgoing_payload_launch_fraction;
  const bool numbered =
      payload != 0 || pins.outgoing_payload_header_flags_syn || pins.outgoing_payload_header_flags_fin;
  const bool mayOvertake = !numbered && mode == LaunchMode::asap;
  line_.put(frame, mode, launch, pins.outgoing_payload_header_sequence_value, payload, mayOvertake, now);
}

void Wire::reset() {
  departures_.reset();
  line_.reset();
  bypass_.toSend.clear();
}

} // namespace downbeat
