// SPDX-License-Identifier: BSD-2-Clause-Patent
// Messages between a program and a `downbeat nic` process: a hello and a welcome over the Unix socket
// (SOCK_SEQPACKET), then doorbells through a mailbox in shared memory. The socket's end is the client's end.
//
// Neither side depends on what the other may change: the memory is sealed at its size, each end of the socket has flags
// of its own, and each side keeps its own counts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>

#include "failure.h"
#include "port.h"

namespace downbeat::nic {

inline constexpr std::uint32_t protocol = 2;

enum class Wish : std::uint32_t {
  port = 1, // a port of its own
  connections, // a JSON object for each connection, one a message, then the end
  device // one JSON object
};

struct Hello {
  std::uint32_t protocol = nic::protocol;
  std::uint32_t formatNumber = 0, formatHash = 0;
  Wish wish = Wish::port;
};

/// With it come, if there is no error: the device's memory and the mailbox. Later messages are wake-ups (messages.h):
/// the program's for a process that sleeps, the process's as the interrupt.
struct Welcome {
  std::int32_t error = 0; // a downbeat_error
  char problem[252] = {};
  Geometry geometry;
  std::uint64_t memoryBytes = 0;
};
inline constexpr int welcomeFiles = 2;

/// In the place of a doorbell's offset, which is below a page: a note for `downbeat top`. Its value: a flow in bits 15
/// to 0, its generation in 23 to 16, the `source` of its downbeat_estimate in 31 to 24.
inline constexpr std::uint32_t startNote = format::pageBytes;

/// Doorbells and notes in order, from one client to the process.
struct Mailbox {
  static constexpr std::uint32_t entries = 4096;

  struct Entry {
    std::uint32_t offset, value;
  };

  std::atomic<std::uint32_t> tail; // the client's: entries that are written
  std::atomic<std::uint32_t> headWanted; // the client's: it waits for commandHead
  alignas(
      64) std::atomic<std::uint32_t> head; // the process's: entries that it has taken; it tells it and does not read it
  std::atomic<std::uint32_t> sleeps; // the process's: it must be woken
  std::atomic<std::uint32_t> commandHead; // the process's
  alignas(64) Entry ring[entries];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Address of a NIC's socket in the file system; an abstract name has no mode and no owner. Throws INVALID_ARGUMENT.
inline sockaddr_un addressOf(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw Failure(DOWNBEAT_INVALID_ARGUMENT, "simd: takes a path of at most 107 characters");
  if (path.front() == '@')
    throw Failure(DOWNBEAT_INVALID_ARGUMENT,
                  "simd:" + path + ": an abstract name has no owner and no mode: use a path");
  path.copy(address.sun_path, path.size());
  return address;
}

} // namespace downbeat::nic
