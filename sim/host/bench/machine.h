// SPDX-License-Identifier: BSD-2-Clause-Patent
// A simulated device with all its ports started, and a wire that leads back to it: what its address sends to the
// peer's address arrives as if the peer's had sent it. So each connection has both ends in this one core, and any two
// ports can talk.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "mapping.h"
#include "mirror.h"
#include "model_port.h"
#include "ring.h"

namespace downbeat::bench {

inline constexpr std::uint32_t ownIp = 0x0a000001, peerIp = 0x0a000002;
inline constexpr std::uint64_t wireDelay = DOWNBEAT_NANOSECONDS(1000);

/// A port: its rings, what was reported last of each flow, and what else was reported.
class HostPort {
public:
  HostPort(Model &model, const Geometry &geometry, std::uint8_t *memory, std::uint32_t number);

  /// Takes all notifications.
  void poll();
  void command(const format::Command &command) { commands.push(command); }
  void doorbell(std::uint32_t pair, std::uint32_t sequence, std::uint32_t reference) {
    port.ringPair(pair, sequence, reference);
  }
  /// The newest status of the connection that a command with this number opened; nullptr: none yet.
  const format::Notification *opened(std::uint16_t request) const;
  const format::Notification *accepted(std::uint16_t localPort) const;

  std::uint32_t number;
  ModelPort port;
  CommandRing commands;
  NotificationRing notifications;
  std::map<std::uint32_t, format::Notification> statuses; // by flow
  std::deque<format::Notification> reported; // responses and errors
};

class Machine {
public:
  /// `stalls`: of the memory, of 256.
  Machine(const std::string &library, std::uint64_t linkRate, std::uint32_t stalls, std::uint32_t seed);

  /// A wire's delay of time, and what leaves in it.
  void step();
  /// A frame that has left comes back.
  void reflect(std::uint8_t *frame, std::size_t length, std::uint64_t arrival);
  /// Steps until it holds; throws after so much of the device's time.
  void until(const std::string &what, const std::function<bool()> &holds,
             std::uint64_t limit = DOWNBEAT_NANOSECONDS(50'000'000));
  void start(std::uint32_t port);
  HostPort &port(std::uint32_t number) { return *ports_[number]; }
  /// Opens a connection of one port with another's listener; both ends' statuses.
  std::pair<format::Notification, format::Notification> connect(std::uint32_t from, std::uint32_t to,
                                                                std::uint16_t localPort, std::uint16_t remotePort);
  void listen(std::uint32_t port, std::uint16_t number);

  Model model;
  Geometry geometry;
  std::uint64_t guardBytes; // behind the last ring: nobody's
  Mapping memory;

private:
  Mirror mirror_;
  std::vector<std::unique_ptr<HostPort>> ports_;
  std::uint16_t request_ = 1;
};

/// A command with the defaults of a connection.
format::Command openCommand(format::Opcode opcode, std::uint16_t localPort);

} // namespace downbeat::bench
