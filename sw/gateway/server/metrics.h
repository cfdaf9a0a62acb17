// SPDX-License-Identifier: BSD-2-Clause-Patent
// The counters for Prometheus, in its text format, version 0.0.4.
#pragma once

#include <string>

#include "wire/counters.h"

namespace downbeat::gateway {

std::string metrics(const Counters &counters);

} // namespace downbeat::gateway
