// SPDX-License-Identifier: BSD-2-Clause-Patent
// State of a connection that the device keeps beside the core: bytes staged each way and how far each side has come.
#pragma once

#include <cstdint>
#include <deque>

#include "bits.h"
#include "downbeat_build.h"
#include "downbeat_sim_core.h"
#include "types.h"

#ifdef DOWNBEAT_TAP_HEADER // downbeat_build.h
#include "device/tap_header/byte_queue.h"
#else
#include "device/tap_frame/byte_queue.h"
#endif

namespace downbeat {

/// A notification, taken apart.
struct Notification {
  explicit Notification(const Words<DOWNBEAT_NOTIFICATION_BITS> &words);

  bool refused, passive, peerFinished, urgent, struggling;
  std::uint8_t state, reason, statusReason;
  std::uint16_t request, remotePort, localPort;
  std::uint32_t remoteIp, flow, generation;
  std::uint32_t acknowledged, written, consumed, received, urgentEnd; // sequence numbers
  std::uint8_t errorKind, errorCode, errors;
};

/// The downbeat_error of a connection that ended for this CloseReason; 0 for an orderly end.
int errorOf(std::uint8_t reason);

struct Connection {
  /// Identity.
  bool known = false; // the core has given it a flow
  std::uint16_t request = 0;
  std::uint32_t flow = 0, generation = 0, remoteIp = 0;
  std::uint16_t remotePort = 0, localPort = 0;

  /// The newest status.
  std::uint8_t state = DOWNBEAT_TCP_STATE_CLOSED;
  bool ended = false;
  int error = 0;
  bool established = false; // it has been; the counts below have their base
  bool peerFinished = false;
  int networkErrorType = 0, networkErrorCode = 0; // ICMP's
  std::uint32_t networkErrors = 0;
  bool struggling = false;
  unsigned startsWaiting = 0;     // commands that the core has not taken: nothing is sent before
  std::uint32_t startsRefused = 0;

  /// Sending, bytes since establishment: acknowledged <= written <= pushed <= accepted.
  ByteQueue toPush;
  std::uint64_t accepted = 0, pushed = 0, written = 0, acknowledged = 0;
  struct Range {
    std::uint64_t begin, end;
  };
  std::deque<Range> urgent; // ranges that are not pushed yet
  bool shutdownWanted = false, shutdownSent = false;
  bool closeWanted = false, abortWanted = false;
  bool forgotten = false; // by its application; the core still has it

  /// Receiving, bytes since establishment: delivered <= requested <= received.
  ByteQueue delivered;
  std::uint64_t deliveredBytes = 0, requested = 0, received = 0;
  std::uint64_t urgentEnd = 0;

  void update(const Notification &notification);
  void fail(std::uint8_t reason);

  bool alive() const { return established && !ended; }
  /// Bytes that the core's send buffer has space for.
  std::uint64_t space() const { return DOWNBEAT_SEND_BUFFER_BYTES - (pushed - acknowledged); }
  /// Counts the next `length` bytes as pushed, or fewer of them, so that no packet holds the end of urgent data before
  /// its own; true if it ends with such data.
  bool push(std::size_t &length);
  std::uint64_t urgentLeft() const {
    const std::uint64_t read = deliveredBytes - delivered.size();
    return urgentEnd > read ? urgentEnd - read : 0;
  }
  /// Sequence number behind all that was pushed.
  std::uint32_t pushedSequence() const { return writtenSequence_ + static_cast<std::uint32_t>(pushed - written); }
  /// All that the application wrote has been handed over; the core keeps the order between that and what it is asked
  /// for afterwards.
  bool handedOver() const { return toPush.size() == 0; }
  /// Bytes have come that the application has not read: some wait here, or are on their way from the core.
  bool unread() const { return delivered.size() != 0 || deliveredBytes != requested; }
  bool endOfStream() const { return peerFinished && deliveredBytes == received && delivered.size() == 0; }

private:
  /// Newest sequence numbers, from which counts of 64 bits grow.
  std::uint32_t acknowledgedSequence_ = 0, writtenSequence_ = 0, receivedSequence_ = 0;
};

} // namespace downbeat
