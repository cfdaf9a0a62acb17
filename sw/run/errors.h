// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel's number for an error of the driver.
#pragma once

#include <cerrno>

#include "downbeat.h"

namespace downbeat {

constexpr int errnoOf(int error) {
  switch (error) {
  case DOWNBEAT_OK: return 0;
  case DOWNBEAT_REFUSED: return ECONNREFUSED;
  case DOWNBEAT_RESET: return ECONNRESET;
  case DOWNBEAT_TIMED_OUT: return ETIMEDOUT;
  case DOWNBEAT_ABORTED: return ECONNABORTED;
  case DOWNBEAT_OUT_OF_RESOURCES: return ENOBUFS;
  case DOWNBEAT_UNREACHABLE: return EHOSTUNREACH;
  case DOWNBEAT_ADDRESS_IN_USE: return EADDRINUSE;
  case DOWNBEAT_DEVICE_GONE: return ENETDOWN;
  case DOWNBEAT_INVALID_ARGUMENT: return EINVAL;
  case DOWNBEAT_UNKNOWN_POLICY: return ENOENT;
  case DOWNBEAT_WOULD_BLOCK: return EAGAIN;
  default: return EIO;
  }
}

} // namespace downbeat
