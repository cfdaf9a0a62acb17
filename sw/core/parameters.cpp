// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "parameters.h"

namespace downbeat {

std::string rangeProblem(const downbeat_parameters &parameters) {
  std::string problem;
  const auto check = [&](const char *name, std::uint64_t value, std::uint64_t max) {
    if (value > max && problem.empty())
      problem = std::string(name) + " is " + std::to_string(value) + ": use at most " + std::to_string(max);
  };
#define DOWNBEAT_CHECK(member, field, max) check(#member, parameters.member, max);
  DOWNBEAT_PARAMETERS(DOWNBEAT_CHECK)
  DOWNBEAT_START_PARAMETERS(DOWNBEAT_CHECK)
#undef DOWNBEAT_CHECK
  return problem;
}

downbeat_parameters withDefaults(downbeat_parameters parameters) {
  if (parameters.initial_window == 0) parameters.initial_window = defaultInitialWindow;
  if (parameters.ssthresh == 0) parameters.ssthresh = maxSsthresh;
  return parameters;
}

} // namespace downbeat
