// SPDX-License-Identifier: BSD-2-Clause-Patent
// Messages with descriptors, and wake-ups, over a Unix socket.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "file.h"

namespace downbeat {

/// False: the other end has gone.
bool sendMessage(int socket, const void *message, std::size_t length, std::span<const int> descriptors = {});
/// Waits; false: the other end has gone, or it said something else.
bool receiveMessage(int socket, void *message, std::size_t length, std::vector<File> *descriptors = nullptr);

/// One byte that wakes the other end, if it is not awake. Never waits; false: it has gone, or there is no memory.
bool sendWake(int socket);
/// Takes wake-ups that have come, as many as one pass has time for. Never waits; false: the other end has gone.
bool takeWakes(int socket);

} // namespace downbeat
