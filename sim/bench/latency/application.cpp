// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "application.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "peer.h"

namespace latency {

using downbeat::beatBytes;

void Application::open() {
  constexpr std::uint32_t initialWindow = 10, highestSsthresh = 1 << 30; // RFC 6928; bytes
  for (unsigned connection = 0; connection < connections_.size(); ++connection) {
    CommandWords words{};
    DOWNBEAT_SET(words, COMMAND, KIND, DOWNBEAT_COMMAND_KIND_OPEN);
    DOWNBEAT_SET(words, COMMAND, REQUEST, connection + 1);
    DOWNBEAT_SET(words, COMMAND, REMOTE_IP, peerStation.ip);
    DOWNBEAT_SET(words, COMMAND, REMOTE_PORT, Peer::portOf(connection));
    DOWNBEAT_SET(words, COMMAND, PARAMETERS_INITIAL_WINDOW, initialWindow);
    DOWNBEAT_SET(words, COMMAND, PARAMETERS_SSTHRESH, highestSsthresh);
    DOWNBEAT_SET(words, COMMAND, PARAMETERS_NO_DELAY, 1);
    commands_.push_back(words);
  }
}

bool Application::established() const {
  return std::ranges::all_of(connections_, [](const Connection &connection) { return connection.established; });
}

void Application::write(unsigned connection, std::size_t length) {
  connections_[connection].written += length;
  frames_.push_back({connection, length});
}

void Application::sample(const Pins &pins, Time now) {
  if (pins.s_axis_command_tvalid && pins.s_axis_command_tready) commands_.pop_front();
  if (pins.s_axis_tx_tvalid && pins.s_axis_tx_tready) {
    const Frame frame = frames_.front();
    Connection &connection = connections_[frame.connection];
    if (position_ == 0) onAccepted(frame.connection, connection.accepted, now);
    const std::size_t count = std::min(beatBytes, frame.length - position_);
    connection.accepted += count;
    position_ += count;
    if (position_ == frame.length) {
      frames_.pop_front();
      position_ = 0;
    }
  }
  if (pins.m_axis_notification_tvalid && pins.m_axis_notification_tready) notified(pins);
  if (pins.m_axis_rx_tvalid && pins.m_axis_rx_tready) {
    const unsigned number = byFlow_[pins.m_axis_rx_tdest];
    Connection &connection = connections_[number];
    connection.delivered += static_cast<unsigned>(std::popcount(static_cast<unsigned>(pins.m_axis_rx_tkeep)));
    onDelivered(number, connection.delivered, now);
  }
}

void Application::notified(const Pins &pins) {
  downbeat::Words<DOWNBEAT_NOTIFICATION_BITS> words;
  std::memcpy(words.data(), &pins.m_axis_notification_tdata[0], sizeof words);
  if (DOWNBEAT_GET(words, NOTIFICATION, REFUSED)) throw std::runtime_error("the core refused a connection");
  const auto number = static_cast<unsigned>(DOWNBEAT_GET(words, NOTIFICATION, ADDRESSES_REMOTE_PORT) - Peer::portOf(0));
  Connection &connection = connections_.at(number);
  const auto state = DOWNBEAT_GET(words, NOTIFICATION, STATUS_STATE);
  const auto received = static_cast<std::uint32_t>(DOWNBEAT_GET(words, NOTIFICATION, STATUS_RECEIVED_VALUE));
  if (state != DOWNBEAT_TCP_STATE_ESTABLISHED) {
    if (connection.established) throw std::runtime_error("a connection ended");
    return;
  }
  if (!connection.established) {
    connection.established = true;
    connection.flow = static_cast<std::uint32_t>(DOWNBEAT_GET(words, NOTIFICATION, STATUS_REFERENCE_FLOW));
    connection.initial = received;
    byFlow_[connection.flow] = number;
  }
  const std::uint32_t fresh = received - connection.initial - static_cast<std::uint32_t>(connection.requested);
  if (fresh == 0) return;
  CommandWords command{};
  DOWNBEAT_SET(command, COMMAND, KIND, DOWNBEAT_COMMAND_KIND_RECEIVE);
  DOWNBEAT_SET(command, COMMAND, FLOW, connection.flow);
  DOWNBEAT_SET(command, COMMAND, LENGTH, fresh);
  commands_.push_back(command);
  connection.requested += fresh;
}

void Application::drive(Pins &pins) const {
  pins.m_axis_notification_tready = 1;
  pins.m_axis_rx_tready = 1;
  pins.s_axis_command_tvalid = !commands_.empty();
  if (!commands_.empty()) std::memcpy(&pins.s_axis_command_tdata[0], commands_.front().data(), sizeof(CommandWords));
  pins.s_axis_tx_tvalid = !frames_.empty();
  if (frames_.empty()) return;
  const Frame &frame = frames_.front();
  const std::size_t count = std::min(beatBytes, frame.length - position_);
  pins.s_axis_tx_tdata = frame.connection;
  pins.s_axis_tx_tkeep = downbeat::keepOf(count);
  pins.s_axis_tx_tlast = position_ + count == frame.length;
  pins.s_axis_tx_tuser = 0;
  pins.s_axis_tx_tdest = connections_[frame.connection].flow;
}

} // namespace latency
