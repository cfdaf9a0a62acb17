// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C library's own functions, behind those that this library puts in front of them.
#pragma once

#include <dlfcn.h>

/// `REAL(connect)(...)` calls the next library's connect.
#define REAL(function)                                                                                                 \
  ([]() -> decltype(& ::function) {                                                                                    \
    static const auto found = reinterpret_cast<decltype(&::function)>(dlsym(RTLD_NEXT, #function));                    \
    return found;                                                                                                      \
  }())
