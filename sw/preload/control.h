// SPDX-License-Identifier: BSD-2-Clause-Patent
// Requests of the preloaded library to the pump: one for each connection to its control socket
// (SOCK_SEQPACKET), one answer, perhaps with a descriptor. Both ends are of one build.
#pragma once

#include <cstdint>
#include <string>

#include "messages.h"
#include "names.h"

namespace downbeat {

enum class RequestKind : std::uint32_t { connect = 1, listen, error, options };

struct Request {
  RequestKind kind{};
  Endpoint remote; // connect
  Endpoint local; // connect: port 0 chooses one; listen
  std::uint32_t noDelay = 0; // connect, listen, options
  std::uint32_t keepAlive = 0; // seconds; 0: never
  std::uint32_t nonBlocking = 0; // connect: answer at once
  std::uint32_t backlog = 0; // listen
  std::uint32_t serial = 0; // listen: of the listener's name; error, options: of the connection's
};

struct Answer {
  std::int32_t error = 0; // an errno; 0: done
};

/// The variable that tells a program's processes where the pump is and which addresses are its own:
/// "SOCKET IP NETMASK MSS"; IP and NETMASK are hexadecimal.
inline constexpr const char *environmentName = "DOWNBEAT_RUN";

/// A keep-alive time as the core has it: units of 2^30 ns.
std::uint32_t keepAliveUnits(std::uint32_t seconds);

} // namespace downbeat
