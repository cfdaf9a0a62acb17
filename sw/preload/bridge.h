// SPDX-License-Identifier: BSD-2-Clause-Patent
// One connection of the core and the pump's end of the program's socket: bytes both ways, ends both ways.
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
  /// The send ring is full of what the program wrote: what its socket does is no news.
  bool blocked() const { return established_ && ringFull_ && !socketFull_; }
  bool watched = false; // the pump's

private:
  static constexpr int pending = 115; // EINPROGRESS

  bool settle();
  bool programGone() const;
  void establish();
  bool sendAll();
  bool receiveAll();
  bool end(bool abort);

  downbeat_connection *connection_;
  File socket_, other_;
  ConnectionName name_;
  std::uint64_t filler_ = 0; // bytes that keep the program's end from being writable
  int error_ = 0;
  bool established_ = false;
  bool programFinished_ = false, peerFinished_ = false;
  bool ringFull_ = false, socketFull_ = false;
};

} // namespace downbeat
