// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pump: the process that has the device for a program and its children. It opens and accepts connections for them
// and moves the bytes between the core's rings and their local sockets.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "bridge.h"
#include "control.h"

namespace downbeat {

class Pump {
public:
  /// `program`: a pidfd; the pump lasts until that process and all that it began have ended, and nothing is left to do.
  Pump(downbeat_device *device, File control, File program, const downbeat_options &options);
  void run();

private:
  using Clock = std::chrono::steady_clock;

  /// A process that has connected and not yet said what it wants.
  struct Asking {
    File socket;
    Clock::time_point until; // then it is sent away
  };
  /// A request whose answer waits for the connection.
  struct Waiting {
    File socket, given;
  };
  struct Listener {
    downbeat_listener *listener = nullptr;
    Endpoint local;
    std::uint32_t serial = 0;
    File waiting; // the request, until the core listens
    downbeat_connection *next = nullptr; // accepted, and the program's backlog is full
  };

  void hear();
  void request(std::uint32_t number);
  int connect(const Request &request, File &socket);
  int listen(const Request &request, File &socket);
  void accept(Listener &listener);
  /// False: try again later.
  bool give(Listener &listener, downbeat_connection *connection);
  void news();
  void step(std::uint32_t serial);
  void watch(Bridge &bridge);
  /// Processes that ask for nothing, listeners that no process has any more, and those that wait.
  void tidy();
  bool done() const;
  /// A process that has the pump's name in its environment lives: a daemon may open sockets long after the program's
  /// end.
  bool wanted() const;
  downbeat_options optionsOf(const Request &request) const;

  downbeat_device *device_;
  File control_, program_, epoll_;
  downbeat_options options_;
  std::uint32_t ip_, netmask_;
  std::uint32_t serial_ = 0, asked_ = 0;
  std::map<std::uint32_t, Asking> asking_; // by number
  std::map<std::uint32_t, std::unique_ptr<Bridge>> bridges_; // by serial
  std::map<std::uint32_t, Waiting> waiting_;
  std::map<std::uint32_t, int> failed_; // errors of connections that were opened without blocking
  std::map<std::uint16_t, std::unique_ptr<Listener>> listeners_; // by port
  bool programEnded_ = false, deviceGone_ = false;
};

} // namespace downbeat
