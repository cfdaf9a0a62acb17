// SPDX-License-Identifier: BSD-2-Clause-Patent
// State of a port that the NIC process learns by reading along: its listeners, from its commands, and its connections,
// from its notifications.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "downbeat.h"
#include "port.h"

namespace downbeat::nic {

struct Seen {
  std::uint32_t generation = 0;
  std::uint8_t state = 0;
  std::uint32_t remoteIp = 0;
  std::uint16_t remotePort = 0, localPort = 0;
  bool past = false; // it was there before this program's first command: of the port's last program
  bool letGo = false; // the program has closed it
  std::uint64_t roundTrip = 0; // smoothed, ns; 0: no sample
  std::uint32_t losses = 0; // events
  std::uint8_t lossesReported = 0; // modulo 2^8
  std::optional<std::uint8_t> source; // of where it started from: a downbeat_estimate's; none if it did not ask

  /// It is this program's, and the core or the program still has it.
  bool isInUse() const { return !past && !(letGo && state == DOWNBEAT_CLOSED); }
};

class Watcher {
public:
  /// `flowCount` of the core: a flow beyond is the program's invention.
  Watcher(const Rings &rings, std::uint32_t flowCount) : rings_(rings), flowCount_(flowCount) {}

  /// The commands up to `tail` are on their way to the core.
  void commands(std::uint32_t tail);
  /// commandHead when the core has done them all.
  std::uint32_t commandTail() const { return commandHead_; }
  /// All notifications that are complete. Before their places become free.
  void notifications();
  /// `note` of nic_protocol.h. The program knows the connection by a notification that is there.
  void started(std::uint32_t note);

  std::set<std::uint16_t> listeners;
  std::map<std::uint32_t, Seen> flows;

private:
  void report(const format::PathReport &report);

  Rings rings_;
  std::uint32_t flowCount_;
  std::uint32_t commandHead_ = 0, notificationHead_ = 0;
};

} // namespace downbeat::nic
