// SPDX-License-Identifier: BSD-2-Clause-Patent
// The texts behind numbers: states, event kinds, policies.
#pragma once

#include <string_view>

namespace downbeat {

const char *stateText(int state);
const char *eventText(int kind);
const char *congestionText(int kind);
const char *startupText(int policy);
const char *steadyText(int policy);

/// The number of a policy of this build; -1: there is none of that name.
int startupIndex(std::string_view name);
int steadyIndex(std::string_view name);

} // namespace downbeat
