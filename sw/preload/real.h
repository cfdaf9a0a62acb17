// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C library's own functions, behind those that this library puts in front of them.
#pragma once

#include <dlfcn.h>

namespace downbeat {

/// `REAL(connect)(...)` calls the next library's connect.
template <typename Function> Function *next(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace downbeat

#define REAL(function)                                                                                                 \
  ([]() -> decltype(& ::function) {                                                                                    \
    static const auto found = downbeat::next<std::remove_pointer_t<decltype(&::function)>>(#function);                 \
    return found;                                                                                                      \
  }())
