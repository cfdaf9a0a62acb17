// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's counters and its event log, out of its registers.
#pragma once

#include "port.h"

namespace downbeat {

/// Name and value of counter number `index`; false behind the last.
bool readCounter(Registers &registers, unsigned index, const char *&name, std::uint32_t &value);
void freezeLog(Registers &registers, bool frozen);
/// Entry `index` of the frozen log, 0 the newest; false behind the oldest.
bool readLog(Registers &registers, unsigned index, downbeat_event &event);

/// The last record of a flow; false: it had none.
bool readFlow(Registers &registers, std::uint32_t flow, downbeat_event &event);

} // namespace downbeat
