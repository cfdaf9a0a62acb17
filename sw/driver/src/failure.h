// SPDX-License-Identifier: BSD-2-Clause-Patent
// A call that fails says why in one line (downbeat_problem).
#pragma once

#include <stdexcept>
#include <string>

#include "downbeat.h"

namespace downbeat {

/// Inside the library only; the C interface turns it into its code, and keeps the text.
struct Failure : std::runtime_error {
  Failure(int error, const std::string &text) : std::runtime_error(text), code(error) {}
  int code;
};

/// Keeps `text` as this thread's problem, and returns `code`.
int failed(int code, std::string text);
int failed(int code);

} // namespace downbeat
