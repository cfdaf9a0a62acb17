// SPDX-License-Identifier: BSD-2-Clause-Patent
// One connection of the core and the supervisor's end of the local leg: bytes both ways, ends both ways.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "downbeat.h"
#include "file.h"
#include "linger.h"
#include "presence.h"

namespace downbeat {

class Bridge {
public:
  /// `segment`: bytes of a full one.
  Bridge(downbeat_connection *connection, std::uint32_t serial, std::uint32_t segment)
      : connection_(connection), serial_(serial), segment_(segment) {}
  Bridge(const Bridge &) = delete;
  Bridge &operator=(const Bridge &) = delete;
  ~Bridge();

  /// `end`: the supervisor's end of the leg, non-blocking, with SO_LINGER 0.
  void join(File end);
  bool joined() const { return static_cast<bool>(end_); }
  /// Moves what can be moved. False: the connection is over, and this can go.
  bool step();
  /// Whether a step may have work that no event announces.
  bool waitsForProgram() const { return programFinished_ || draining_ || linger_.waits(); }

  /// An errno, once it has failed; EINPROGRESS while it is not known.
  int error() const;
  downbeat_connection_info_t information() const;
  /// 0 or an errno.
  int setPolicies(const downbeat_parameters &parameters);
  /// In units of the core, 0: none. Before the connection is established it has them from then on.
  void setTimes(std::uint32_t keepAlive, std::uint32_t userTimeout);
  /// The program's TCP_NODELAY. The core sends what it gets, so Nagle's algorithm is here (RFC 1122, 4.2.3.4).
  void setNoDelay(bool noDelay) { noDelay_ = noDelay; }
  void setLinger(std::optional<std::chrono::seconds> time) { linger_.set(time, end_.get()); }
  /// Bytes of the program that the peer has not acknowledged.
  int unacknowledged() const;
  std::uint32_t serial() const { return serial_; }
  int descriptor() const { return end_.get(); }
  /// The program's socket, once it is known.
  void watch(std::shared_ptr<const Presence> socket) { presence_ = std::move(socket); }
  bool programGone() const { return presence_ && !presence_->isOpen(); }
  /// The supervisor's end, after the connection.
  File takeEnd() { return std::move(end_); }
  /// The program has reset its socket.
  void reset() { end(true); }

private:
  bool sendAll();
  /// Less than a segment is unread, and its predecessors are not acknowledged.
  bool delays() const;
  bool receiveAll();
  bool end(bool abort);
  int unsent() const;
  int unread() const;
  /// The next byte of the program is urgent.
  bool atMark() const;
  bool isReset() const;
  bool acknowledged() const;
  void tellTimes();

  downbeat_connection *connection_;
  std::uint32_t serial_, segment_;
  File end_;
  std::shared_ptr<const Presence> presence_;
  int error_ = 0; // once it has ended
  std::optional<std::pair<std::uint32_t, std::uint32_t>> times_; // that the core has not received
  bool noDelay_ = false;
  bool programFinished_ = false, peerFinished_ = false;
  Linger linger_;
  std::optional<std::chrono::steady_clock::time_point> goneSince_; // it has been closed
  bool draining_ = false; // the connection has ended, and bytes that came before are on the leg
};

} // namespace downbeat
