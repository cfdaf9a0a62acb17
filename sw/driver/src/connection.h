// SPDX-License-Identifier: BSD-2-Clause-Patent
// One connection: its two byte rings and what the core has reported of it. The C interface's downbeat_connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "port.h"

namespace downbeat {

class Device;
/// Places in the stream, modulo 2^32.
using Sequence = std::uint32_t;

/// The downbeat_error of a connection that ended for this reason; 0 for an orderly end.
int errorOf(format::CloseReason reason);

/// All members are guarded by `mutex`, but for those of the device.
class Connection {
public:
  explicit Connection(Device &owner) : device(owner) {}

  /// For the program; the errors are those of downbeat.h.
  std::int64_t reserve(downbeat_span (&spans)[2]);
  int commit(std::size_t length, bool urgent = false);
  std::int64_t peek(downbeat_span (&spans)[2]);
  int consume(std::size_t length);
  std::int64_t send(const std::uint8_t *data, std::size_t length);
  std::int64_t receive(std::uint8_t *data, std::size_t capacity);
  void info(downbeat_connection_info_t &info) const;
  std::int64_t takeStamps(std::span<downbeat_stamp> stamps);

  /// Takes a status over; returns bits of downbeat_ready.
  std::uint32_t update(const format::Notification &status);
  void update(const downbeat_path_report &report);
  void update(const format::Stamp &stamp);
  void fail(int error);

  bool alive() const { return established && !ended; }
  std::uint32_t reference() const { return flow | generation << 16; }

  Device &device;
  mutable std::mutex mutex;

  bool known = false; // the core has given it a flow
  bool established = false; // it has been
  bool ended = false;
  bool peerFinished = false;
  bool shutDown = false; // nothing more is to be sent
  std::uint32_t flow = 0, generation = 0;
  std::uint32_t remoteIp = 0;
  std::uint16_t remotePort = 0, localPort = 0;
  int state = DOWNBEAT_CLOSED, error = DOWNBEAT_OK, policyError = DOWNBEAT_OK;
  std::uint8_t startup = 0, steady = 0;
  bool stamped = false; // its program wants the stamps of its segments
  std::uint64_t lostStamps = 0; // that its program did not take in time

  /// The device's, guarded by its table's mutex.
  std::uint16_t request = 0;
  bool dropped = false; // its program has let go of it before it had a flow
  bool waits = false; // for somebody who accepts it
  std::uint32_t ready = 0;
  void *context = nullptr;
  bool estimated = false; // it asked where to start
  downbeat_estimate estimate{};

private:
  Sequence acknowledged_ = 0, written_ = 0; // the send ring holds [acknowledged, written)
  Sequence consumed_ = 0, received_ = 0; // the receive ring holds [consumed, received)
  std::uint64_t sentBytes_ = 0, acknowledgedBytes_ = 0, receivedBytes_ = 0, consumedBytes_ = 0;
  std::uint64_t urgentEnd_ = 0; // bytes of the stream up to the end of the peer's urgent data
  downbeat_path_report path_{};
  double deliveryRate_ = 0; // bytes a ns
  std::deque<downbeat_stamp> stamps_;
};

} // namespace downbeat

struct downbeat_connection : downbeat::Connection {
  using Connection::Connection;
};
