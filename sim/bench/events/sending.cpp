// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "sending.h"

#include <algorithm>
#include <cstring>

namespace events {

namespace {
constexpr std::uint32_t peerInitial = 0xfffffff0, buffer = 64 * 1024, mss = 1460; // the preset's
constexpr unsigned generation = 1, initialWindow = 10, scale = 7, shallow = 2 * mss;
constexpr unsigned lossPercent = 1; // percent of the ACKs that advance: three duplicates come instead
} // namespace

Sending::Sending(Order order, const std::vector<Policies> &policies, std::uint64_t seed) : draw_(seed) {
  const auto count = static_cast<unsigned>(policies.size());
  for (unsigned flow = 0; flow < count; ++flow) {
    const std::uint32_t initial = draw_.word();
    connections_.push_back(
        {policies[flow], initial, false, false, false, false, false, initial, initial, initial + 1, initial + 1});
  }
  for (unsigned p = 0; p < ports; ++p) turns_.emplace_back(order, count, p * count / ports, 1, seed + p);
}

bool Sending::allEstablished() const {
  return std::ranges::all_of(connections_, [](const Connection &connection) { return connection.established; });
}

bool Sending::offer(Port port, Pins &pins, std::uint64_t now) {
  Turn &turn = turns_[port];
  // A connection without a segment to send is passed over.
  for (unsigned tries = 0; tries < connections_.size(); ++tries) {
    const unsigned flow = turn.flow();
    turn.next();
    if (says(port, flow, pins, now)) return true;
  }
  return false;
}

bool Sending::says(Port port, unsigned flow, Pins &pins, std::uint64_t now) {
  Connection &connection = connections_[flow];
  switch (port) {
  case directory: return directorySays(connection, flow, pins, now);
  case application: {
    const std::uint32_t space = buffer - (connection.written - connection.acknowledged);
    if (!connection.established || space > buffer || space < mss) return false;
    const std::uint32_t length = std::min<std::uint32_t>(space, static_cast<std::uint32_t>(draw_.between(1, shallow)));
    connection.written += length;
    pins.application_payload_kind = DOWNBEAT_EVENT_KIND_WRITTEN;
    pins.application_payload_flow = static_cast<CData>(flow);
    pins.application_payload_length = length;
    return true;
  }
  case grants:
    if (!connection.booked) return false;
    connection.booked = false;
    pins.grants_payload_reference_flow = static_cast<CData>(flow);
    pins.grants_payload_reference_generation = generation;
    return true;
  case departed: return departs(connection, flow, pins);
  case timers: // a timer may come early
    if (!connection.established) return false;
    pins.timers_payload_reference_flow = static_cast<CData>(flow);
    pins.timers_payload_reference_generation = generation;
    return true;
  default: return false;
  }
}

bool Sending::directorySays(Connection &connection, unsigned flow, Pins &pins, std::uint64_t now) {
  if (connection.opened && !(connection.synSeen && !connection.acknowledging) && !connection.established) return false;
  pins.directory_payload_reference_flow = static_cast<CData>(flow);
  pins.directory_payload_reference_generation = generation;
  pins.directory_payload_stamp_ns = now;
  pins.directory_payload_open = !connection.opened;
  pins.directory_payload_flags_ack = connection.opened;
  pins.directory_payload_flags_syn = connection.opened && !connection.acknowledging;
  pins.directory_payload_options_mssValid = pins.directory_payload_options_windowScaleValid =
      pins.directory_payload_flags_syn;
  pins.directory_payload_options_mss = mss;
  pins.directory_payload_options_windowScale = scale;
  pins.directory_payload_sequence_value = peerInitial + connection.acknowledging;
  if (!connection.opened) {
    connection.opened = true;
    open(connection, pins);
  } else if (!connection.acknowledging) {
    connection.acknowledging = true;
  } else if (connection.repeats) {
    --connection.repeats;
  } else if (connection.departed != connection.reported && draw_.chance(lossPercent)) {
    connection.repeats = 2;
  } else { // an ACK of departed data, or a window update
    if (connection.departed == connection.reported) connection.wide = !connection.wide;
    connection.reported = connection.departed;
  }
  pins.directory_payload_acknowledgment_value = connection.reported;
  pins.directory_payload_window = connection.wide ? 65535 : 65534;
  return true;
}

void Sending::open(const Connection &connection, Pins &pins) {
  const Policies &policies = connection.policies;
  pins.directory_payload_initialSequence_value = connection.initial;
  pins.directory_payload_parameters_startup = static_cast<CData>(policies.startup);
  pins.directory_payload_parameters_steady = static_cast<CData>(policies.steady);
  const auto put = [](auto &pin, const std::array<std::uint32_t, 4> &argument) {
    std::memcpy(&pin, argument.data(), std::min(sizeof pin, sizeof argument));
  };
  put(pins.directory_payload_parameters_startupArgument, policies.startupArgument);
  put(pins.directory_payload_parameters_steadyArgument, policies.steadyArgument);
  pins.directory_payload_parameters_initialWindow = initialWindow;
  pins.directory_payload_parameters_ssthresh = policies.ssthresh;
  pins.directory_payload_parameters_noDelay = 1;
}

bool Sending::departs(Connection &connection, unsigned flow, Pins &pins) {
  if (connection.departures.empty()) return false;
  const Departure &departure = connection.departures.front();
  pins.departed_payload_reference_flow = static_cast<CData>(flow);
  pins.departed_payload_reference_generation = generation;
  pins.departed_payload_end_value = departure.end;
  pins.departed_payload_stamp_ns = departure.stamp;
  if (static_cast<std::int32_t>(departure.end - connection.departed) > 0) connection.departed = departure.end;
  connection.departures.pop_front();
  return true;
}

void Sending::see(const Pins &pins, std::uint64_t now) {
  if (pins.bookings_valid) connections_[pins.bookings_payload_reference_flow].booked = true;
  if (pins.descriptors_valid) {
    const unsigned flow = pins.descriptors_payload_reference_flow;
    const bool syn = pins.descriptors_payload_flags_syn;
    if (pins.descriptors_payload_flags_rst || pins.descriptors_payload_release)
      throw Failure("the engine gave a connection up");
    connections_[flow].synSeen = connections_[flow].synSeen || syn;
    if (pins.descriptors_payload_stamped)
      connections_[flow].departures.push_back(
          {pins.descriptors_payload_sequence_value + pins.descriptors_payload_length + syn, now});
  }
  if (!pins.trace_valid) return;
  Connection &connection = connections_[pins.trace_payload_reference_flow];
  connection.established = connection.established || pins.trace_payload_state == DOWNBEAT_TCP_STATE_ESTABLISHED;
  connection.acknowledged = pins.trace_payload_acknowledged_value;
  segments += pins.trace_payload_sent && pins.trace_payload_sentLength;
  retransmissions += pins.trace_payload_retransmission;
}

} // namespace events
