// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "connection.h"

namespace downbeat {

Notification::Notification(const Words<DOWNBEAT_NOTIFICATION_BITS> &words)
    : refused(DOWNBEAT_GET(words, NOTIFICATION, REFUSED)),
      passive(DOWNBEAT_GET(words, NOTIFICATION, ADDRESSES_PASSIVE)),
      peerFinished(DOWNBEAT_GET(words, NOTIFICATION, STATUS_PEER_FINISHED)),
      urgent(DOWNBEAT_GET(words, NOTIFICATION, STATUS_URGENT)),
      struggling(DOWNBEAT_GET(words, NOTIFICATION, STATUS_STRUGGLING)),
      state(DOWNBEAT_GET(words, NOTIFICATION, STATUS_STATE)),
      reason(DOWNBEAT_GET(words, NOTIFICATION, REASON)),
      statusReason(DOWNBEAT_GET(words, NOTIFICATION, STATUS_REASON)),
      request(DOWNBEAT_GET(words, NOTIFICATION, ADDRESSES_REQUEST)),
      remotePort(DOWNBEAT_GET(words, NOTIFICATION, ADDRESSES_REMOTE_PORT)),
      localPort(DOWNBEAT_GET(words, NOTIFICATION, ADDRESSES_LOCAL_PORT)),
      remoteIp(DOWNBEAT_GET(words, NOTIFICATION, ADDRESSES_REMOTE_IP)),
      flow(DOWNBEAT_GET(words, NOTIFICATION, STATUS_REFERENCE_FLOW)),
      generation(DOWNBEAT_GET(words, NOTIFICATION, STATUS_REFERENCE_GENERATION)),
      acknowledged(DOWNBEAT_GET(words, NOTIFICATION, STATUS_ACKNOWLEDGED_VALUE)),
      written(DOWNBEAT_GET(words, NOTIFICATION, STATUS_WRITTEN_VALUE)),
      consumed(DOWNBEAT_GET(words, NOTIFICATION, STATUS_CONSUMED_VALUE)),
      received(DOWNBEAT_GET(words, NOTIFICATION, STATUS_RECEIVED_VALUE)),
      urgentEnd(DOWNBEAT_GET(words, NOTIFICATION, STATUS_URGENT_END_VALUE)),
      errorKind(DOWNBEAT_GET(words, NOTIFICATION, STATUS_ERROR_KIND)),
      errorCode(DOWNBEAT_GET(words, NOTIFICATION, STATUS_ERROR_CODE)),
      errors(DOWNBEAT_GET(words, NOTIFICATION, STATUS_ERRORS)) {}

int errorOf(std::uint8_t reason) {
  switch (reason) {
  case DOWNBEAT_CLOSE_REASON_NONE:
  case DOWNBEAT_CLOSE_REASON_FINISHED: return DOWNBEAT_OK;
  case DOWNBEAT_CLOSE_REASON_REFUSED: return DOWNBEAT_REFUSED;
  case DOWNBEAT_CLOSE_REASON_RESET: return DOWNBEAT_RESET;
  case DOWNBEAT_CLOSE_REASON_TIMED_OUT: return DOWNBEAT_TIMED_OUT;
  case DOWNBEAT_CLOSE_REASON_OUT_OF_RESOURCES: return DOWNBEAT_OUT_OF_RESOURCES;
  case DOWNBEAT_CLOSE_REASON_UNREACHABLE: return DOWNBEAT_UNREACHABLE;
  case DOWNBEAT_CLOSE_REASON_UNKNOWN_POLICY: return DOWNBEAT_UNKNOWN_POLICY;
  case DOWNBEAT_CLOSE_REASON_POLICY_ARGUMENT: return DOWNBEAT_POLICY_ARGUMENT;
  case DOWNBEAT_CLOSE_REASON_ADDRESS_IN_USE: return DOWNBEAT_ADDRESS_IN_USE;
  case DOWNBEAT_CLOSE_REASON_MEMORY_ERROR: return DOWNBEAT_MEMORY_ERROR;
  default: return DOWNBEAT_ABORTED;
  }
}

namespace {

/// ICMP types of the core's NetworkErrorKind.
int icmpTypeOf(std::uint8_t kind) {
  switch (kind) {
  case DOWNBEAT_NETWORK_ERROR_KIND_UNREACHABLE: return 3;
  case DOWNBEAT_NETWORK_ERROR_KIND_TIME_EXCEEDED: return 11;
  case DOWNBEAT_NETWORK_ERROR_KIND_PARAMETER_PROBLEM: return 12;
  default: return 0;
  }
}

} // namespace

void Connection::update(const Notification &notification) {
  state = notification.state;
  networkErrorType = icmpTypeOf(notification.errorKind);
  networkErrorCode = notification.errorCode;
  networkErrors += (notification.errors - networkErrors) & 3;
  struggling = notification.struggling;
  // SYN and FIN are numbers in the stream without being bytes of it: none counts before the peer's answer to our
  // SYN, and FINs come last, where the counts are held back.
  if (!established) {
    if (state == DOWNBEAT_TCP_STATE_CLOSED || state == DOWNBEAT_TCP_STATE_SYN_SENT ||
        state == DOWNBEAT_TCP_STATE_SYN_RECEIVED) {
      if (state == DOWNBEAT_TCP_STATE_CLOSED) fail(notification.statusReason);
      return;
    }
    established = true;
    acknowledgedSequence_ = notification.written; // all of nothing is acknowledged
    writtenSequence_ = notification.written;
    receivedSequence_ = notification.consumed;
  }
  written = std::min(pushed, written + (notification.written - writtenSequence_));
  writtenSequence_ = notification.written;
  acknowledged = std::min(written, acknowledged + (notification.acknowledged - acknowledgedSequence_));
  acknowledgedSequence_ = notification.acknowledged;
  const bool finishes = notification.peerFinished && !peerFinished;
  peerFinished = peerFinished || notification.peerFinished;
  received += notification.received - receivedSequence_ - (finishes ? 1 : 0);
  receivedSequence_ = notification.received;
  if (notification.urgent) { // its end may lie on either side of what has come; a FIN takes a number, but no byte
    const auto ahead =
        static_cast<std::int32_t>(notification.urgentEnd - notification.received + (peerFinished ? 1 : 0));
    urgentEnd = std::max(urgentEnd, received + static_cast<std::uint64_t>(std::int64_t{ahead}));
  }
  if (peerFinished) urgentEnd = std::min(urgentEnd, received); // no more comes
  if (state == DOWNBEAT_TCP_STATE_CLOSED) fail(notification.statusReason);
}

bool Connection::push(std::size_t &length) {
  bool marks = false;
  if (!urgent.empty() && urgent.front().begin < pushed + length) {
    length = std::min<std::uint64_t>(length, urgent.front().end - pushed);
    marks = true;
    if (pushed + length == urgent.front().end) urgent.pop_front();
  }
  pushed += length;
  return marks;
}

void Connection::fail(std::uint8_t reason) {
  ended = true;
  state = DOWNBEAT_TCP_STATE_CLOSED;
  error = errorOf(reason);
}

} // namespace downbeat
