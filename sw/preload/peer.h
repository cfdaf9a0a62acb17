// SPDX-License-Identifier: BSD-2-Clause-Patent
// Who is at the other end of a local socket. Every user of the machine sees abstract names and may connect to them.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

namespace downbeat {

/// Whether it was this process's user, or root, who connected or listens there.
inline bool isOfSameUser(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

} // namespace downbeat
