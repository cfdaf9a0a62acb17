// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pins' side of the application port; its calls are in application_calls.cpp.
#include "application_port.h"

#include <utility>

namespace downbeat {

void ApplicationPort::drive(Pins &pins, Stamp now) {
  pins.m_axis_notification_tready = 1;
  DataPort::takeAll(pins);

  if (!commands_.empty() && openDue_ == never &&
      DOWNBEAT_GET(commands_.front(), COMMAND, KIND) == DOWNBEAT_COMMAND_KIND_OPEN)
    openDue_ = now + DataPort::openLatency;
  pins.s_axis_command_tvalid = !commands_.empty() && (openDue_ == never || openDue_ <= now);
  if (!commands_.empty()) std::memcpy(&pins.s_axis_command_tdata[0], commands_.front().data(), sizeof(CommandWords));

  if (chunk_.connection == none) return data_.rest(pins, now);
  data_.drive(pins, connections_.at(chunk_.connection), chunk_.length, chunk_.urgent, now);
}

bool ApplicationPort::sample(const Pins &pins, Stamp now) {
  bool moved = false;
  if (pins.s_axis_command_tvalid && pins.s_axis_command_tready) {
    startTaken(commands_.front());
    commands_.pop_front();
    openDue_ = never;
    moved = true;
  }
  if (bool end = false; data_.sample(pins, now, end)) {
    moved = true;
    if (end) {
      Connection &connection = connections_.at(chunk_.connection);
      connection.toPush.drop(chunk_.length);
      const downbeat_sim_connection name = chunk_.connection;
      chunk_ = {};
      advance(name);
    }
  }
  if (const auto arrival = DataPort::arrived(pins)) {
    arrived(*arrival);
    moved = true;
  }
  if (pins.m_axis_notification_tvalid) {
    Words<DOWNBEAT_NOTIFICATION_BITS> words;
    std::memcpy(words.data(), &pins.m_axis_notification_tdata[0], sizeof words);
    notified(Notification(words));
    moved = true;
  }
  return moved;
}

void ApplicationPort::startTaken(const CommandWords &words) {
  if (DOWNBEAT_GET(words, COMMAND, KIND) != DOWNBEAT_COMMAND_KIND_START) return;
  const downbeat_sim_connection name = byFlow_[DOWNBEAT_GET(words, COMMAND, FLOW)];
  if (name == none || connections_.at(name).startsWaiting == 0) return;
  --connections_.at(name).startsWaiting;
  choosePush();
}

void ApplicationPort::arrived(const DataPort::Arrival &arrival) {
  const downbeat_sim_connection name = byFlow_[arrival.flow];
  if (name == none) return; // requested before the application let go of it
  Connection &connection = connections_.at(name);
  if (!connection.forgotten) connection.delivered.append(arrival.data.data(), arrival.count);
  connection.deliveredBytes += arrival.count;
}

void ApplicationPort::notified(const Notification &notification) {
  if (notification.refused) {
    if (auto found = starting_.find(notification.request); found != starting_.end()) {
      if (const auto entry = connections_.find(found->second); entry != connections_.end())
        ++entry->second.startsRefused;
      starting_.erase(found);
      return;
    }
    if (auto found = byRequest_.find(notification.request); found != byRequest_.end())
      connections_.at(found->second).fail(notification.reason);
    return;
  }
  downbeat_sim_connection name = byFlow_[notification.flow];
  if (name != none && connections_.at(name).generation != notification.generation) name = none;
  if (name == none && !notification.passive) {
    const auto found = byRequest_.find(notification.request);
    if (found == byRequest_.end()) return; // forgotten
    name = found->second;
    byRequest_.erase(found);
  }
  if (name == none) {
    const bool open =
        notification.state == DOWNBEAT_TCP_STATE_ESTABLISHED || notification.state == DOWNBEAT_TCP_STATE_CLOSE_WAIT;
    if (!open || gone_[notification.flow] == notification.generation) return;
    name = nextName_++;
    connections_[name] = {};
    // The handshake was under way when the listener went: nobody can accept it any more.
    const auto listening = listening_.find(notification.localPort);
    if (listening != listening_.end())
      listening->second.push_back(name);
    else
      connections_[name].forgotten = connections_[name].abortWanted = true;
  }
  Connection &connection = connections_.at(name);
  if (!connection.known) {
    connection.known = true;
    connection.flow = notification.flow;
    connection.generation = notification.generation;
    connection.remoteIp = notification.remoteIp;
    connection.remotePort = notification.remotePort;
    connection.localPort = notification.localPort;
    byFlow_[notification.flow] = name;
  }
  connection.update(notification);
  advance(name);
}

void ApplicationPort::advance(downbeat_sim_connection name) {
  Connection &connection = connections_.at(name);
  if (connection.alive()) requestData(connection);
  if (connection.ended || connection.abortWanted) dropPending(name);
  // A packet that the core has part of ends first.
  const bool pushing = chunk_.connection == name;
  if (!connection.known) {
    if (connection.ended && connection.forgotten) forget(name);
  } else if (connection.abortWanted && !pushing) {
    command(DOWNBEAT_COMMAND_KIND_ABORT, connection);
    forget(name);
  } else if (connection.closeWanted && !pushing && (connection.ended || connection.handedOver())) {
    command(DOWNBEAT_COMMAND_KIND_CLOSE, connection);
    forget(name);
  } else if (connection.shutdownWanted && !connection.shutdownSent && connection.alive() && connection.handedOver()) {
    command(DOWNBEAT_COMMAND_KIND_SHUTDOWN, connection);
    connection.shutdownSent = true;
  }
  choosePush();
}

void ApplicationPort::dropPending(downbeat_sim_connection name) {
  Connection &connection = connections_.at(name);
  if (chunk_.connection == name && !data_.begun()) {
    connection.pushed -= chunk_.length;
    chunk_ = {};
  }
  const std::size_t kept = chunk_.connection == name ? chunk_.length : 0;
  connection.toPush.cut(kept);
}

void ApplicationPort::requestData(Connection &connection) {
  while (connection.requested < connection.received && !connection.forgotten) {
    const std::uint64_t held = connection.delivered.size() + (connection.requested - connection.deliveredBytes);
    if (held >= staging_) return;
    const std::uint64_t length =
        std::min({connection.received - connection.requested, staging_ - held, largestReceive});
    command(DOWNBEAT_COMMAND_KIND_RECEIVE, connection, static_cast<std::uint32_t>(length));
    connection.requested += length;
    DataPort::requested(connection, length);
  }
}

/// Picks the next packet for s_axis_tx, in turn over the connections that have something to send.
void ApplicationPort::choosePush() {
  urgent_ = false;
  std::erase_if(sending_, [this](downbeat_sim_connection name) { return connections_.at(name).toPush.size() == 0; });
  auto entry = sending_.upper_bound(lastPushed_);
  for (std::size_t left = sending_.size(); left > 0; --left, ++entry) {
    if (entry == sending_.end()) entry = sending_.begin();
    Connection &connection = connections_.at(*entry);
    const std::uint64_t space = connection.alive() ? connection.space() : 0;
    std::size_t length = std::min({connection.toPush.size(), static_cast<std::size_t>(space), chunkBytes});
    if (length == 0 || connection.startsWaiting != 0) continue;
    urgent_ = urgent_ || space > DOWNBEAT_SEND_BUFFER_BYTES / 2;
    if (chunk_.connection != none) continue;
    lastPushed_ = *entry;
    const bool urgent = connection.push(length);
    chunk_ = {*entry, length, urgent};
  }
}

void ApplicationPort::reset() {
  commands_.clear();
  openDue_ = never;
  chunk_ = {};
  data_.reset();
  urgent_ = false;
  sending_.clear();
  std::ranges::fill(byFlow_, none);
  std::ranges::fill(gone_, std::nullopt);
  byRequest_.clear();
  starting_.clear();
  for (const auto &[port, waiting] : std::exchange(listening_, {}))
    for (const downbeat_sim_connection name : waiting) connections_.erase(name);
  std::erase_if(connections_, [](const auto &entry) { return entry.second.forgotten; });
  for (auto &[name, connection] : connections_) {
    connection.known = false;
    connection.startsWaiting = 0;
    connection.toPush.cut(0);
    if (!connection.ended) connection.fail(DOWNBEAT_CLOSE_REASON_ABORTED);
  }
}

void ApplicationPort::forget(downbeat_sim_connection name) {
  const Connection &connection = connections_.at(name);
  if (connection.known && byFlow_[connection.flow] == name) {
    byFlow_[connection.flow] = none;
    gone_[connection.flow] = connection.generation;
  }
  if (!connection.known) byRequest_.erase(connection.request);
  sending_.erase(name);
  connections_.erase(name);
}

} // namespace downbeat
