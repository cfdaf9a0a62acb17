// SPDX-License-Identifier: BSD-2-Clause-Patent
// The front: the process that the user has started. Its signals, stops and end are the program's.
#pragma once

#include <string>

#include <signal.h>

#include "file.h"

namespace downbeat {

[[noreturn]] void fail(const std::string &problem);

/// Signals that are the program's; the front blocks them before the program begins.
sigset_t passedSignals();

/// `supervisor`: Reports come from there. Ends as the program does.
[[noreturn]] void beFront(File supervisor);

} // namespace downbeat
