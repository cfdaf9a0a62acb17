// SPDX-License-Identifier: BSD-2-Clause-Patent
// One connection of the core and the pump's end of the program's socket: bytes both ways, ends both ways.
//
// A byte of the program's is always unread there: at first the one before its stream (first_byte.h), then the last that
// the core has. So an end that comes too early, the pump's own death too, is ECONNRESET for the program.
#pragma once

#include <cstdint>

#include "downbeat.h"
#include "file.h"
#include "names.h"

namespace downbeat {

class Bridge {
public:
  /// `socket` is the pump's end, non-blocking; `name` its name.
  Bridge(downbeat_connection *connection, File socket, const ConnectionName &name)
      : connection_(connection), socket_(std::move(socket)), name_(name) {}
  Bridge(const Bridge &) = delete;
  Bridge &operator=(const Bridge &) = delete;
  ~Bridge();

  /// Until it is called, the program's end is not writable: its queue is full. `other` is that end.
  void holdBack(File other);
  /// Moves what can be moved. False: the connection is over, and this can go.
  bool step();

  bool established() const { return established_; }
  /// An errno, once it has failed; EINPROGRESS while it is not known.
  int error() const { return error_ != 0 ? error_ : established_ ? 0 : pending; }
  const ConnectionName &name() const { return name_; }
  downbeat_connection *connection() const { return connection_; }
  int descriptor() const { return socket_.get(); }
  /// Events of epoll that are waited for.
  std::uint32_t wanted() const;
  std::uint32_t watched = 0; // the pump's: events that epoll has

private:
  static constexpr int pending = 115; // EINPROGRESS

  bool settle();
  bool programGone() const;
  /// Bytes in the socket, with the one that is always there; 0: nobody has accepted it.
  std::size_t unread() const;
  void establish();
  bool sendAll();
  /// Moves at most `count` bytes into the ring; how many.
  std::size_t take(const downbeat_span (&spans)[2], std::size_t count);
  bool receiveAll();
  bool end(bool abort);

  downbeat_connection *connection_;
  File socket_, other_;
  ConnectionName name_;
  std::uint64_t filler_ = 0; // bytes that keep the program's end from being writable
  int error_ = 0;
  bool established_ = false;
  bool programFinished_ = false, peerFinished_ = false;
  bool socketFull_ = false;
};

} // namespace downbeat
