// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "record.h"

#include <array>

#include "downbeat_registers.h"
#include "register_names.h"

namespace downbeat {

namespace {

struct Counter {
  const char *name;
  std::uint32_t address;
};

#define DOWNBEAT_COUNTER(name, register) Counter{name, register},
constexpr std::array counters = {DOWNBEAT_COUNTER_REGISTERS(DOWNBEAT_COUNTER)};
#undef DOWNBEAT_COUNTER

std::uint64_t wideField(Registers &registers, std::uint32_t low, std::uint32_t high) {
  const std::uint64_t value = registers.read(low);
  return high == 0 ? value : value | std::uint64_t{registers.read(high)} << 32;
}

/// The record that is selected.
void readRecord(Registers &registers, downbeat_event &event) {
#define DOWNBEAT_FIELD(member, low, high)                                                                              \
  event.member = static_cast<decltype(event.member)>(wideField(registers, low, high));
  DOWNBEAT_RECORD_REGISTERS(DOWNBEAT_FIELD)
#undef DOWNBEAT_FIELD
}

bool select(Registers &registers, std::uint32_t selection, downbeat_event &event) {
  registers.write(DOWNBEAT_REG_RECORD_SELECT, selection);
  if (registers.read(DOWNBEAT_REG_RECORD_FOUND) == 0) return false;
  readRecord(registers, event);
  return true;
}

} // namespace

bool readCounter(Registers &registers, unsigned index, const char *&name, std::uint32_t &value) {
  if (index >= counters.size()) return false;
  name = counters[index].name;
  value = registers.read(counters[index].address);
  return true;
}

void freezeLog(Registers &registers, bool frozen) {
  registers.write(DOWNBEAT_REG_LOG, frozen ? DOWNBEAT_REG_LOG_FREEZE_MASK : 0);
}

bool readLog(Registers &registers, unsigned index, downbeat_event &event) {
  if (index > DOWNBEAT_REG_RECORD_SELECT_INDEX_MASK) return false;
  return select(registers, index | DOWNBEAT_REG_RECORD_SELECT_LOG_MASK, event);
}

bool readFlow(Registers &registers, std::uint32_t flow, downbeat_event &event) {
  return select(registers, flow, event);
}

} // namespace downbeat
