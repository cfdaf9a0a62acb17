// SPDX-License-Identifier: BSD-2-Clause-Patent
// One port of a device: its connections and listeners, commands out and notifications in.
//
// Locks, in this order: the device's tables, a connection, the command ring. Doorbells of data take the connection's
// alone.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "connection.h"
#include "estimates.h"
#include "file.h"
#include "owner.h"
#include "port.h"
#include "ring.h"

namespace downbeat {
class Device;
} // namespace downbeat

/// Guarded by the device's tables.
struct downbeat_listener {
  downbeat::Device &device;
  std::uint16_t port = 0;
  std::uint32_t since = 0; // commandHead from which on its connections are
  std::size_t backlog = 0;
  void *context = nullptr;
  int state = DOWNBEAT_WOULD_BLOCK; // until the core has responded
  downbeat::format::Command policies; // of its connections
  bool estimates = false;             // its connections start by the device's estimates
  std::uint64_t transferBytes = 0;
  std::deque<downbeat_connection *> waiting; // established, and accepted by nobody
  std::uint32_t ready = 0;
};

namespace downbeat {

class Device {
public:
  const Owner owner;

  explicit Device(std::unique_ptr<Port> port);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  downbeat_connection *connect(std::uint32_t ip, std::uint16_t port, std::uint16_t localPort,
                               const downbeat_options *options);
  downbeat_listener *listen(std::uint16_t port, unsigned backlog, const downbeat_options *options, void *context);
  int listening(const downbeat_listener &listener) const;
  int accept(downbeat_listener &listener, downbeat_connection *&connection);
  void unlisten(downbeat_listener *listener);
  void setContext(downbeat_connection &connection, void *context);
  int shutdown(Connection &connection);
  int setPolicies(Connection &connection, const downbeat_parameters &parameters);
  int setTimes(Connection &connection, std::uint32_t keepAlive, std::uint32_t userTimeout);
  int start(Connection &connection, const downbeat_parameters &parameters);
  int keepStamps(Connection &connection);
  std::int64_t stamps(Connection &connection, std::span<downbeat_stamp> stamps, std::uint64_t *dropped);
  /// By a close or an abort.
  void letGo(downbeat_connection *connection, format::Opcode how);
  std::int64_t poll(std::span<downbeat_item> items);
  /// Before the first connection.
  void useEstimates(std::unique_ptr<Estimates> estimates) { estimates_ = std::move(estimates); }
  int estimate(const downbeat_connection &connection, downbeat_estimate &estimate) const;
  /// The core has forgotten everything, before anything was asked of it.
  void restarted();

  Port &port() { return *port_; }
  /// Readable when poll has something to do; -1: the device has no interrupt.
  int descriptor() const { return port_->descriptor() >= 0 ? ready_.get() : -1; }
  bool alive() const { return port_->alive(); }
  const downbeat_statistics &statistics() const { return statistics_; }

  /// For connections.
  void ringPair(std::uint32_t offset, Sequence sequence, std::uint32_t reference);
  void count(std::uint64_t downbeat_statistics::*what, std::uint64_t step = 1) {
    std::atomic_ref(statistics_.*what).fetch_add(step, std::memory_order_relaxed);
  }
  void policyName(bool isStartup, std::uint8_t number, char (&name)[16]) const;

private:
  /// Commands that wait for a response of the core.
  struct Pending {
    downbeat_connection *opens = nullptr, *changes = nullptr, *starts = nullptr; // starts: by itself
    downbeat_listener *listens = nullptr;
    std::uint32_t since = 0; // commandHead when it is done: a status from before is of the port's last program
  };

  void requireAlive() const;
  std::uint32_t command(const format::Command &command);
  void command(format::Opcode opcode, std::uint32_t flow, std::uint32_t generation);
  std::uint16_t newRequest(const Pending &pending);
  void setParameters(format::Command &command, const downbeat_options *options) const;
  void choosePolicies(format::Command &command, const downbeat_parameters &parameters) const;
  static void setStart(format::Command &command, const downbeat_parameters &parameters);
  int change(Connection &connection, const downbeat_parameters &parameters, format::Command command);
  /// Asks where the connection starts, and says so in the command.
  void requestStart(downbeat_connection &connection, std::uint64_t transferBytes, format::Command &command);
  bool applyEstimate(format::Command &command, const downbeat_host_start &start) const;
  void startAccepted(downbeat_connection &connection, const downbeat_listener &listener);
  std::uint8_t policy(bool isStartup, const char *name) const;

  void notified(const format::Notification &notification);
  void status(const format::Notification &status);
  void responded(std::uint16_t request, int error);
  /// The connection that a status is of; nullptr: nobody's, and what is to be done about it has been done.
  downbeat_connection *connectionOf(const format::Notification &status);
  downbeat_connection *accepted(const format::Notification &status);
  void attach(downbeat_connection &connection, const format::Notification &status);
  void forget(downbeat_connection *connection);
  void addReady(downbeat_connection &connection, std::uint32_t ready);
  void addReady(downbeat_listener &listener);
  /// The descriptor is readable while a connection or listener is ready that no poll has given.
  void showReadiness();
  void gone();

  std::unique_ptr<Port> port_;
  File readyEvent_, ready_; // ready_: epoll of the port's interrupt and readyEvent_
  bool readyShown_ = false;
  bool samePolicies_;
  downbeat_statistics statistics_{};
  std::atomic<std::uint32_t> stampsDropped_ = 0; // by the core, for its space in the ring

  mutable std::mutex tables_;
  NotificationRing notifications_;
  std::unordered_map<downbeat_connection *, std::unique_ptr<downbeat_connection>> connections_;
  std::vector<downbeat_connection *> byFlow_;
  std::vector<std::int16_t> letGo_; // the generation of each flow's last connection that was let go; -1: none
  std::unordered_map<std::uint16_t, Pending> pending_; // by request
  std::map<std::uint16_t, std::unique_ptr<downbeat_listener>> listeners_; // by port
  std::deque<downbeat_connection *> readyConnections_;
  std::deque<downbeat_listener *> readyListeners_;
  std::unique_ptr<Estimates> estimates_; // nullptr: the device has no gateway
  std::uint16_t nextRequest_ = 1;
  bool goneReported_ = false;

  std::mutex commandMutex_;
  CommandRing commands_;
};

} // namespace downbeat
