// SPDX-License-Identifier: BSD-2-Clause-Patent
// Result of a run, the JSON object that downbeat_tap prints at its end.
#pragma once

#include <nlohmann/json.hpp>

#include "application.h"
#include "real_time.h"
#include "relay.h"
#include "trace_log.h"

nlohmann::ordered_json result(const Relay &relay);
nlohmann::ordered_json result(downbeat_device *device, const RealTime &run, const Application &application,
                              const TraceLog &log);
