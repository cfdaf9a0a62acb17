// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "failure.h"

#include <utility>

namespace downbeat {

namespace {

thread_local std::string problem;

} // namespace

int failed(int code, std::string text) {
  problem = std::move(text);
  return code;
}

int failed(int code) { return failed(code, downbeat_error_text(code)); }

} // namespace downbeat

extern "C" {

const char *downbeat_problem(void) { return downbeat::problem.c_str(); }

} // extern "C"
