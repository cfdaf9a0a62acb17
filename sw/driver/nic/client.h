// SPDX-License-Identifier: BSD-2-Clause-Patent
// A program that has a port of the NIC.
#pragma once

#include <optional>
#include <string>

#include "mapping.h"
#include "nic_protocol.h"
#include "watcher.h"

namespace downbeat::nic {

struct Client {
  File socket;
  std::uint32_t port = 0;
  Mapping mailboxMemory;
  Mailbox *mailbox = nullptr;
  File wake, interrupt;
  bool raised = false; // the interrupt is, and the program has been notified
  Watcher watcher;
  pid_t process = 0;
  std::string program;
};

} // namespace downbeat::nic
