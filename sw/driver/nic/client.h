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
  std::uint32_t head = 0; // entries of the mailbox that were taken
  bool raised = false; // the interrupt is, and the program has been notified
  Watcher watcher;
  pid_t process = 0;
  File ended; // its pidfd, or no file: a forked child may keep the socket open
  std::string program;
};

/// A request for the connections, and the first row that is not sent.
struct Listing {
  File socket;
  std::uint32_t port = 0, flow = 0;
};

} // namespace downbeat::nic
