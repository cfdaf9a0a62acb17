// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "connection.h"

#include <algorithm>
#include <cstring>

#include "device.h"
#include "failure.h"

namespace downbeat {

namespace {

/// The `length` bytes of a ring from a sequence number on, in one span or two.
void spansOf(std::uint8_t *ring, std::uint32_t size, Sequence from, std::size_t length, downbeat_span (&spans)[2]) {
  const std::uint32_t at = from % size;
  const std::size_t first = std::min<std::size_t>(length, size - at);
  spans[0] = {ring + at, first};
  spans[1] = {ring, length - first};
}

constexpr std::uint32_t urgentMark = 1 << 24; // in the doorbell writtenFlow
constexpr std::uint64_t reportMask = (1ull << 48) - 1; // times and bytes of path reports wrap
constexpr std::size_t stampsKept = 65'536; // each connection

/// How far `later` is ahead, 0 if it is behind.
std::uint32_t ahead(Sequence later, Sequence earlier) {
  const auto distance = static_cast<std::int32_t>(later - earlier);
  return distance > 0 ? static_cast<std::uint32_t>(distance) : 0;
}

} // namespace

int errorOf(format::CloseReason reason) {
  using enum format::CloseReason;
  switch (reason) {
  case none:
  case finished: return DOWNBEAT_OK;
  case refused: return DOWNBEAT_REFUSED;
  case reset: return DOWNBEAT_RESET;
  case timedOut: return DOWNBEAT_TIMED_OUT;
  case outOfResources: return DOWNBEAT_OUT_OF_RESOURCES;
  case unreachable: return DOWNBEAT_UNREACHABLE;
  case unknownPolicy: return DOWNBEAT_UNKNOWN_POLICY;
  case policyArgument: return DOWNBEAT_POLICY_ARGUMENT;
  case addressInUse: return DOWNBEAT_ADDRESS_IN_USE;
  case inFlight: return DOWNBEAT_IN_FLIGHT;
  case memoryError: return DOWNBEAT_MEMORY_ERROR;
  default: return DOWNBEAT_ABORTED;
  }
}

std::int64_t Connection::reserve(downbeat_span (&spans)[2]) {
  spans[0] = spans[1] = {};
  if (shutDown) return failed(DOWNBEAT_SHUT_DOWN);
  if (ended) return failed(error != 0 ? error : DOWNBEAT_SHUT_DOWN);
  if (!device.alive()) return failed(DOWNBEAT_DEVICE_GONE);
  const Geometry &geometry = device.port().geometry();
  const std::uint32_t space = geometry.sendBytes - (written_ - acknowledged_);
  if (!established || space == 0) return DOWNBEAT_WOULD_BLOCK;
  std::uint8_t *ring = device.port().rings().payload + std::uint64_t{flow} * geometry.sendBytes;
  spansOf(ring, geometry.sendBytes, written_, space, spans);
  return space;
}

int Connection::commit(std::size_t length, bool urgent) {
  if (length == 0) return DOWNBEAT_OK;
  const std::uint32_t size = device.port().geometry().sendBytes;
  if (shutDown) return failed(DOWNBEAT_SHUT_DOWN);
  if (ended) return failed(error != 0 ? error : DOWNBEAT_SHUT_DOWN);
  if (!established || length > size - (written_ - acknowledged_))
    return failed(DOWNBEAT_INVALID_ARGUMENT, "more bytes are committed than were reserved");
  written_ += static_cast<Sequence>(length);
  sentBytes_ += length;
  device.count(&downbeat_statistics::bytes_sent, length);
  device.ringPair(format::writtenSequence, written_, reference() | (urgent ? urgentMark : 0));
  return DOWNBEAT_OK;
}

std::int64_t Connection::peek(downbeat_span (&spans)[2]) {
  spans[0] = spans[1] = {};
  const Geometry &geometry = device.port().geometry();
  const std::uint32_t waiting = received_ - consumed_;
  if (waiting == 0) {
    if (established && peerFinished) return 0;
    if (ended) return error != 0 ? failed(error) : 0;
    return device.alive() ? DOWNBEAT_WOULD_BLOCK : failed(DOWNBEAT_DEVICE_GONE);
  }
  std::uint8_t *ring =
      device.port().rings().payload + geometry.receiveBase() + std::uint64_t{flow} * geometry.receiveBytes;
  spansOf(ring, geometry.receiveBytes, consumed_, waiting, spans);
  return waiting;
}

int Connection::consume(std::size_t length) {
  if (length == 0) return DOWNBEAT_OK;
  if (length > received_ - consumed_)
    return failed(DOWNBEAT_INVALID_ARGUMENT, "more bytes are consumed than have come");
  consumed_ += static_cast<Sequence>(length);
  consumedBytes_ += length;
  device.count(&downbeat_statistics::bytes_received, length);
  if (!ended) device.ringPair(format::consumedSequence, consumed_, reference());
  return DOWNBEAT_OK;
}

std::int64_t Connection::send(const std::uint8_t *data, std::size_t length) {
  downbeat_span spans[2];
  const std::int64_t space = reserve(spans);
  if (space < 0) return space;
  const std::size_t taken = std::min<std::size_t>(length, static_cast<std::size_t>(space));
  const std::size_t first = std::min(taken, spans[0].length);
  std::memcpy(spans[0].bytes, data, first);
  if (taken != first) std::memcpy(spans[1].bytes, data + first, taken - first);
  commit(taken);
  return static_cast<std::int64_t>(taken);
}

std::int64_t Connection::receive(std::uint8_t *data, std::size_t capacity) {
  downbeat_span spans[2];
  const std::int64_t waiting = peek(spans);
  if (waiting <= 0) return waiting;
  const std::size_t given = std::min<std::size_t>(capacity, static_cast<std::size_t>(waiting));
  const std::size_t first = std::min(given, spans[0].length);
  std::memcpy(data, spans[0].bytes, first);
  if (given != first) std::memcpy(data + first, spans[1].bytes, given - first);
  consume(given);
  return static_cast<std::int64_t>(given);
}

std::uint32_t Connection::update(const format::Notification &status) {
  std::uint32_t changes = 0;
  const auto reason = static_cast<format::CloseReason>(status.reason);
  if (state != status.state) changes |= DOWNBEAT_READY_STATE;
  state = status.state;
  if (!established) {
    // A level may skip the states between: an orderly end has been established.
    if (state == DOWNBEAT_CLOSED && reason != format::CloseReason::finished)
      return fail(errorOf(reason)), changes | DOWNBEAT_READY_STATE;
    if (state == DOWNBEAT_SYN_SENT || state == DOWNBEAT_SYN_RECEIVED) return changes;
    established = true;
    acknowledged_ = written_ = status.written;
    consumed_ = received_ = status.consumed;
    changes |= DOWNBEAT_READY_SPACE;
  }
  // A FIN takes a sequence number, but no byte: on our side nothing beyond what was written counts.
  if (const std::uint32_t step = std::min(ahead(status.acknowledged, acknowledged_), written_ - acknowledged_)) {
    acknowledged_ += step;
    acknowledgedBytes_ += step;
    changes |= DOWNBEAT_READY_SPACE;
  }
  const bool finished = (status.flags & format::peerFinished) != 0;
  const Sequence end = status.received - (finished ? 1 : 0);
  const std::uint32_t most = device.port().geometry().receiveBytes - (received_ - consumed_);
  if (const std::uint32_t step = std::min(ahead(end, received_), most)) {
    received_ += step;
    receivedBytes_ += step;
    changes |= DOWNBEAT_READY_RECEIVED;
  }
  if ((status.flags & format::urgent) != 0) {
    const auto beyond = static_cast<std::int32_t>(status.urgentEnd - received_); // or behind what has come
    const std::uint64_t mark = receivedBytes_ + static_cast<std::uint64_t>(std::int64_t{beyond});
    if (mark > urgentEnd_) changes |= DOWNBEAT_READY_RECEIVED;
    urgentEnd_ = std::max(urgentEnd_, mark);
  }
  if (finished && !peerFinished) {
    peerFinished = true;
    changes |= DOWNBEAT_READY_RECEIVED | DOWNBEAT_READY_STATE;
  }
  if (finished) urgentEnd_ = std::min(urgentEnd_, receivedBytes_); // no more comes
  if (state == DOWNBEAT_CLOSED && !ended) {
    fail(errorOf(reason));
    changes |= DOWNBEAT_READY_STATE;
  }
  return changes;
}

void Connection::update(const downbeat_path_report &report) {
  const std::uint64_t passed = (report.time - path_.time) & reportMask;
  const std::uint64_t acked = (report.acked - path_.acked) & reportMask;
  if (path_.time != 0 && passed != 0 && acked != 0)
    deliveryRate_ = static_cast<double>(acked) / static_cast<double>(passed);
  path_ = report;
}

void Connection::update(const format::Stamp &stamp) {
  if (!established) return; // the handshake
  if (stamps_.size() == stampsKept) {
    ++lostStamps;
    return;
  }
  const bool received = stamp.received != 0;
  // The bytes written or received by now may be behind the segment or before it.
  const auto beyond = static_cast<std::int32_t>(stamp.end - (received ? received_ : written_));
  const std::uint64_t bytes =
      (received ? receivedBytes_ : sentBytes_) + static_cast<std::uint64_t>(std::int64_t{beyond});
  stamps_.push_back({.time = stamp.sfd, .bytes = bytes, .received = received, .reserved = 0});
}

std::int64_t Connection::takeStamps(std::span<downbeat_stamp> stamps) {
  const std::size_t given = std::min(stamps.size(), stamps_.size());
  const auto end = stamps_.begin() + static_cast<std::ptrdiff_t>(given);
  std::copy(stamps_.begin(), end, stamps.begin());
  stamps_.erase(stamps_.begin(), end);
  return static_cast<std::int64_t>(given);
}

void Connection::fail(int why) {
  ended = true;
  state = DOWNBEAT_CLOSED;
  error = why;
}

void Connection::info(downbeat_connection_info_t &info) const {
  info = {};
  info.state = state;
  info.error = error;
  info.established = established;
  info.policy_error = policyError;
  info.flow = flow;
  info.generation = generation;
  info.remote_ip = remoteIp;
  info.remote_port = remotePort;
  info.local_port = localPort;
  info.sent = sentBytes_;
  info.acknowledged = acknowledgedBytes_;
  info.received = receivedBytes_;
  info.consumed = consumedBytes_;
  info.urgent_left = urgentEnd_ > consumedBytes_ ? urgentEnd_ - consumedBytes_ : 0;
  info.peer_finished = peerFinished;
  info.smoothed_rtt = path_.smoothed_rtt;
  info.smallest_rtt = path_.smallest_rtt;
  info.rtt_variation = path_.rtt_variation;
  info.path_acknowledged = path_.acked;
  info.delivery_rate = static_cast<std::uint64_t>(deliveryRate_ * 1e9);
  info.cwnd = path_.cwnd;
  info.ssthresh = path_.ssthresh;
  info.phase = path_.phase;
  info.losses = path_.losses;
  info.restarts = path_.restarts;
  device.policyName(true, startup, info.startup);
  device.policyName(false, steady, info.steady);
}

} // namespace downbeat
