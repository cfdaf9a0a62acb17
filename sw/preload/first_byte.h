// SPDX-License-Identifier: BSD-2-Clause-Patent
// The byte before a program's stream: with it unread at the other end, that end can be one that resets (bridge.h).
#pragma once

#include <sys/socket.h>

namespace downbeat {

/// `socket`: the program's end.
inline void sendFirstByte(int socket) { ::send(socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL); }

} // namespace downbeat
