// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's application streams: commands, notifications, data to send and data received.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "connection.h"
#include "downbeat_build.h"
#include "model.h"

#ifdef DOWNBEAT_TAP_HEADER // downbeat_build.h
#include "device/tap_header/data_port.h"
#else
#include "device/tap_frame/data_port.h"
#endif

namespace downbeat {

class ApplicationPort {
public:
  ApplicationPort(std::size_t staging, std::uint64_t linkRate)
      : staging_(staging), byFlow_(DOWNBEAT_FLOWS, none), gone_(DOWNBEAT_FLOWS), data_(linkRate) {}

  /// For applications; the errors are those of downbeat_sim_core.h.
  int connect(std::uint32_t remoteIp, std::uint16_t remotePort, std::uint16_t localPort,
              const downbeat_parameters *parameters, downbeat_sim_connection &name);
  int listen(std::uint16_t port, const downbeat_parameters *parameters);
  int unlisten(std::uint16_t port);
  int accept(std::uint16_t port, downbeat_sim_connection &name);
  std::int64_t send(downbeat_sim_connection name, const std::uint8_t *data, std::size_t length, bool urgent);
  std::int64_t receive(downbeat_sim_connection name, std::uint8_t *data, std::size_t capacity);
  int shutdown(downbeat_sim_connection name);
  int close(downbeat_sim_connection name);
  int abort(downbeat_sim_connection name);
  int setPolicies(downbeat_sim_connection name, const downbeat_parameters *parameters);
  int start(downbeat_sim_connection name, const downbeat_parameters *parameters);
  /// The reason why a policy did not take its last argument.
  const std::string &argumentProblem() const { return argumentProblem_; }
  int info(downbeat_sim_connection name, downbeat_sim_info &info) const;

  /// For the device.
  /// The core has forgotten everything: connections end as aborted, nobody listens.
  void reset();
  /// Something wants to move at the next clock. Data for a core that still has half a send buffer does not: it moves
  /// when the core is awake for other reasons, which costs no clocks of its own.
  bool active() const {
    return (!commands_.empty() && openDue_ == never) || (data_.begun() ? data_.active() : urgent_);
  }
  /// The next instant at which something does that has begun.
  Stamp nextInstant() const { return std::min(openDue_, data_.nextInstant()); }
  void drive(Pins &pins, Stamp now);
  /// True if anything was handed over.
  bool sample(const Pins &pins, Stamp now);

private:
  using CommandWords = Words<DOWNBEAT_COMMAND_BITS>;
  static constexpr downbeat_sim_connection none = -1;
  /// Bytes that are handed over at once: two full segments, so that the core knows early of what it has.
  static constexpr std::size_t chunkBytes = 2 * DOWNBEAT_OWN_MSS;
  static constexpr std::uint64_t largestReceive = 16384;

  Connection *find(downbeat_sim_connection name);
  const Connection *find(downbeat_sim_connection name) const;
  void startTaken(const CommandWords &words);
  void command(std::uint8_t kind, const Connection &connection, std::uint32_t length = 0);
  int setParameters(CommandWords &words, const downbeat_parameters *parameters);
  std::uint16_t newRequest();
  void notified(const Notification &notification);
  void arrived(const DataPort::Arrival &arrival);
  /// Does what a connection's state now allows: commands, the next packet.
  void advance(downbeat_sim_connection name);
  void requestData(Connection &connection);
  /// Forgets what was to be sent on a connection that sends no more.
  void dropPending(downbeat_sim_connection name);
  void forget(downbeat_sim_connection name);
  void choosePush();

  std::size_t staging_;
  std::map<downbeat_sim_connection, Connection> connections_;
  std::set<downbeat_sim_connection> sending_; // those with bytes that the core has not been given; perhaps some more
  std::vector<downbeat_sim_connection> byFlow_;
  std::vector<std::optional<std::uint32_t>> gone_; // the generation of the flow's last forgotten connection
  std::map<std::uint16_t, downbeat_sim_connection> byRequest_;
  std::map<std::uint16_t, downbeat_sim_connection> starting_; // by request: those that may still be refused
  std::map<std::uint16_t, std::deque<downbeat_sim_connection>> listening_; // by port: established and not yet accepted
  std::deque<CommandWords> commands_;
  std::string argumentProblem_;
  Stamp openDue_ = never; // when an open command that waits for its next hop goes to the core
  downbeat_sim_connection nextName_ = 1;
  std::uint16_t nextRequest_ = 1;

  struct Chunk {
    downbeat_sim_connection connection = none;
    std::size_t length = 0;
    bool urgent = false; // ends urgent data
  } chunk_; // the packet that is being handed over
  DataPort data_;
  bool urgent_ = false;
  downbeat_sim_connection lastPushed_ = none;
};

} // namespace downbeat
