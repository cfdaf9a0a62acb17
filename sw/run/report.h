// SPDX-License-Identifier: BSD-2-Clause-Patent
// Messages between downbeat-run's processes: the front, which its caller has started and which ends as the program
// does; the supervisor, its child; and the program, the supervisor's child.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace downbeat {

enum class ReportKind : std::uint32_t { problem = 1, started, stopped, ended };

/// The supervisor's to the front.
struct Report {
  ReportKind kind{};
  pid_t program = 0; // started
  int status = 0; // stopped, ended: of waitpid
  char problem[300] = {};
};

} // namespace downbeat
