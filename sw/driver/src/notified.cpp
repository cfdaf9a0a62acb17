// SPDX-License-Identifier: BSD-2-Clause-Patent
// Notifications of the core, and the readiness of connections and listeners by them.
#include <algorithm>
#include <utility>

#include <sys/eventfd.h>

#include "device.h"
#include "failure.h"

namespace downbeat {

namespace {

/// Whether a notification was made when the command was done.
bool isAfter(const format::Notification &notification, std::uint32_t done) {
  return static_cast<std::int32_t>(notification.commandHead - done) >= 0;
}

/// Notifications that are taken before the core hears that their places are free.
constexpr std::uint32_t releaseAfter = 64;

downbeat_path_report unpacked(const format::PathReport &entry) {
  downbeat_path_report report{};
  report.time = format::wide(entry.time);
  report.loss_time = format::wide(entry.lossTime);
  report.smoothed_rtt = format::wide(entry.smoothedRtt);
  report.smallest_rtt = format::wide(entry.smallestRtt);
  report.rtt_variation = entry.rttVariation;
  report.average_window = format::wide(entry.averageWindow);
  report.acked = format::wide(entry.acked);
  report.acks = format::wide(entry.acks);
  report.flow = entry.flow;
  report.generation = entry.generation;
  report.cwnd = entry.cwnd;
  report.ssthresh = entry.ssthresh;
  report.loss_window = entry.lossWindow;
  report.segment_size = entry.segmentSize;
  report.phase = static_cast<std::uint8_t>(entry.phaseOfPath());
  report.losses = entry.losses;
  report.restarts = entry.restarts;
  report.retreats = entry.retreats;
  report.loss_in_avoidance = entry.lossInAvoidance();
  report.closed = entry.closed();
  report.growth = entry.growth();
  return report;
}

int errorOf(format::HostError cause) {
  switch (cause) {
  case format::HostError::owner: return DOWNBEAT_ADDRESS_IN_USE;
  case format::HostError::opcode: return DOWNBEAT_NOT_SUPPORTED;
  default: return DOWNBEAT_INVALID_ARGUMENT;
  }
}

} // namespace

std::int64_t Device::poll(std::span<downbeat_item> items) {
  const std::lock_guard lock(tables_);
  port_->clearInterrupt();
  const std::uint32_t before = notifications_.head();
  while (const auto notification = notifications_.take()) {
    notified(*notification);
    if ((notifications_.head() - before) % std::min<std::size_t>(releaseAfter, notifications_.size() / 2) == 0)
      notifications_.release();
  }
  if (const std::uint32_t taken = notifications_.head() - before; taken != 0) {
    count(&downbeat_statistics::notifications, taken);
    notifications_.arm();
  }
  {
    const std::lock_guard commandLock(commandMutex_);
    if (commands_.waits()) commands_.flush();
  }
  if (!alive()) gone();
  if (estimates_ != nullptr) estimates_->run();

  std::size_t given = 0;
  for (; given < items.size() && !readyListeners_.empty(); ++given) {
    downbeat_listener &listener = *readyListeners_.front();
    readyListeners_.pop_front();
    items[given] = {nullptr, &listener, listener.context, std::exchange(listener.ready, 0)};
  }
  for (; given < items.size() && !readyConnections_.empty(); ++given) {
    downbeat_connection &connection = *readyConnections_.front();
    readyConnections_.pop_front();
    items[given] = {&connection, nullptr, connection.context, std::exchange(connection.ready, 0)};
  }
  showReadiness();
  if (given == 0 && !alive()) return failed(DOWNBEAT_DEVICE_GONE);
  return static_cast<std::int64_t>(given);
}

void Device::notified(const format::Notification &notification) {
  if (notification.kind != format::Kind::pathReport) {
    const std::lock_guard lock(commandMutex_);
    commands_.advanceTo(notification.commandHead);
  }
  switch (notification.kind) {
  case format::Kind::status:
    if (notification.flow < byFlow_.size()) status(notification);
    break;
  case format::Kind::response:
    responded(notification.request, downbeat::errorOf(static_cast<format::CloseReason>(notification.reason)));
    break;
  case format::Kind::error:
    count(&downbeat_statistics::errors);
    if (static_cast<format::HostSource>(notification.state) == format::HostSource::command)
      responded(notification.request, errorOf(static_cast<format::HostError>(notification.reason)));
    break;
  case format::Kind::pathReport: {
    downbeat_connection *connection = notification.flow < byFlow_.size() ? byFlow_[notification.flow] : nullptr;
    if (connection == nullptr || connection->generation != notification.generation) break;
    const std::lock_guard lock(connection->mutex);
    const downbeat_path_report report = unpacked(std::bit_cast<format::PathReport>(notification));
    connection->update(report);
    if (estimates_ != nullptr)
      estimates_->report(reinterpret_cast<std::uintptr_t>(connection), connection->remoteIp, report);
    break;
  }
  case format::Kind::stamp: {
    const auto stamp = std::bit_cast<format::Stamp>(notification);
    stampsDropped_ = stamp.dropped;
    downbeat_connection *connection = stamp.flow < byFlow_.size() ? byFlow_[stamp.flow] : nullptr;
    if (connection == nullptr || connection->generation != stamp.generation) break;
    const std::lock_guard lock(connection->mutex);
    connection->update(stamp);
    break;
  }
  default: count(&downbeat_statistics::errors);
  }
}

void Device::responded(std::uint16_t request, int error) {
  const auto found = pending_.find(request);
  if (found == pending_.end()) return;
  const Pending pending = found->second;
  if (pending.opens != nullptr && error == DOWNBEAT_OK) return; // its statuses follow
  pending_.erase(found);
  if (pending.listens != nullptr) {
    pending.listens->state = error;
    addReady(*pending.listens);
  } else if (pending.changes != nullptr) {
    const std::lock_guard lock(pending.changes->mutex);
    pending.changes->policyError = error;
    if (error != DOWNBEAT_OK) addReady(*pending.changes, DOWNBEAT_READY_STATE);
  } else if (pending.starts != nullptr) {
    if (error != DOWNBEAT_OK) pending.starts->estimate = {.reason = "the core took no start"};
  } else if (pending.opens != nullptr) {
    count(&downbeat_statistics::refused);
    if (pending.opens->dropped) return forget(pending.opens);
    const std::lock_guard lock(pending.opens->mutex);
    pending.opens->fail(error);
    addReady(*pending.opens, DOWNBEAT_READY_STATE);
  }
}

void Device::status(const format::Notification &status) {
  downbeat_connection *connection = connectionOf(status);
  if (connection == nullptr) return;
  if (connection->dropped) {
    command(format::Opcode::abort, connection->flow, connection->generation);
    return forget(connection);
  }
  const std::lock_guard lock(connection->mutex);
  const bool before = connection->ended;
  const std::uint32_t ready = connection->update(status);
  if (connection->ended && !before) count(&downbeat_statistics::ended);
  if (ready != 0) addReady(*connection, ready);
}

downbeat_connection *Device::connectionOf(const format::Notification &status) {
  downbeat_connection *connection = byFlow_[status.flow];
  if (connection != nullptr && connection->generation == status.generation) return connection;
  if (letGo_[status.flow] == status.generation) return nullptr;
  if ((status.flags & format::passive) != 0) return accepted(status);
  const auto found = pending_.find(status.request);
  if (found == pending_.end() || found->second.opens == nullptr || !isAfter(status, found->second.since)) {
    // It belonged to a program that had the port before.
    command(format::Opcode::abort, status.flow, status.generation);
    letGo_[status.flow] = status.generation;
    return nullptr;
  }
  connection = found->second.opens;
  pending_.erase(found);
  attach(*connection, status);
  return connection;
}

downbeat_connection *Device::accepted(const format::Notification &status) {
  if (status.state == DOWNBEAT_SYN_RECEIVED) return nullptr; // it is reported again when it is established
  const auto listening = listeners_.find(status.localPort);
  const bool wanted = listening != listeners_.end() && isAfter(status, listening->second->since) &&
                      listening->second->waiting.size() < listening->second->backlog;
  if (!wanted || status.state == DOWNBEAT_CLOSED) {
    command(status.state == DOWNBEAT_CLOSED ? format::Opcode::close : format::Opcode::abort, status.flow,
            status.generation);
    letGo_[status.flow] = status.generation;
    return nullptr;
  }
  auto made = std::make_unique<downbeat_connection>(*this);
  downbeat_connection *connection = made.get();
  connections_.emplace(connection, std::move(made));
  attach(*connection, status);
  connection->waits = true;
  listening->second->waiting.push_back(connection);
  addReady(*listening->second);
  if (listening->second->estimates) startAccepted(*connection, *listening->second);
  return connection;
}

void Device::attach(downbeat_connection &connection, const format::Notification &status) {
  const std::lock_guard lock(connection.mutex);
  connection.known = true;
  connection.flow = status.flow;
  connection.generation = status.generation;
  connection.remoteIp = status.remoteIp;
  connection.remotePort = status.remotePort;
  connection.localPort = status.localPort;
  byFlow_[status.flow] = &connection;
  if (connection.stamped) command(format::Opcode::stamps, connection.flow, connection.generation);
  if (connection.estimated) port_->started(connection.reference(), connection.estimate.source);
}

void Device::addReady(downbeat_connection &connection, std::uint32_t ready) {
  if (connection.waits) return;
  if (connection.ready == 0) readyConnections_.push_back(&connection);
  connection.ready |= ready;
}

void Device::addReady(downbeat_listener &listener) {
  if (listener.ready == 0) readyListeners_.push_back(&listener);
  listener.ready |= DOWNBEAT_READY_ACCEPT;
}

void Device::showReadiness() {
  const bool any = !readyConnections_.empty() || !readyListeners_.empty();
  eventfd_t count;
  if (any == readyShown_) return;
  if ((any ? eventfd_write(readyEvent_.get(), 1) : eventfd_read(readyEvent_.get(), &count)) == 0) readyShown_ = any;
}

void Device::gone() {
  if (std::exchange(goneReported_, true)) return;
  for (const auto &[connection, kept] : connections_) {
    if (connection->dropped) continue; // its program knows it no more
    const std::lock_guard lock(connection->mutex);
    if (!connection->ended) connection->fail(DOWNBEAT_DEVICE_GONE);
    addReady(*connection, DOWNBEAT_READY_STATE);
  }
  for (const auto &[number, listener] : listeners_) {
    listener->state = DOWNBEAT_DEVICE_GONE;
    addReady(*listener);
  }
}

} // namespace downbeat
