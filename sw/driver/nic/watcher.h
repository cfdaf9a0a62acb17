// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the NIC process knows of a port by reading along: its listeners, from its commands, and its connections, from
// its notifications.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "port.h"

namespace downbeat::nic {

struct Seen {
  std::uint32_t generation = 0;
  std::uint8_t state = 0;
  std::uint32_t remoteIp = 0;
  std::uint16_t remotePort = 0, localPort = 0;
  bool letGo = false; // the program has closed it
};

class Watcher {
public:
  explicit Watcher(const Rings &rings) : rings_(rings) {}

  /// The commands up to `tail` are on their way to the core.
  void commands(std::uint32_t tail);
  /// All notifications that are complete. Before their places become free.
  void notifications();

  std::set<std::uint16_t> listeners;
  std::map<std::uint32_t, Seen> flows;

private:
  Rings rings_;
  std::uint32_t commandHead_ = 0, notificationHead_ = 0;
};

} // namespace downbeat::nic
