// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "names.h"

#include <array>
#include <span>

#include "downbeat_build.h"
#include "downbeat_layout.h"
#include "downbeat_sim_core.h"

namespace downbeat {

namespace {

constexpr std::array states = DOWNBEAT_TCP_STATE_NAMES;
constexpr std::array events = DOWNBEAT_EVENT_KIND_NAMES;
constexpr std::array congestion = DOWNBEAT_CONGESTION_EVENT_KIND_NAMES;
constexpr std::array startup = DOWNBEAT_STARTUP_POLICY_NAMES;
constexpr std::array steady = DOWNBEAT_STEADY_POLICY_NAMES;

// The C interface has numbers of its own for states, so that it does not change with the RTL; they are the RTL's.
static_assert(int{DOWNBEAT_CLOSED} == int{DOWNBEAT_TCP_STATE_CLOSED});
static_assert(int{DOWNBEAT_SYN_SENT} == int{DOWNBEAT_TCP_STATE_SYN_SENT});
static_assert(int{DOWNBEAT_SYN_RECEIVED} == int{DOWNBEAT_TCP_STATE_SYN_RECEIVED});
static_assert(int{DOWNBEAT_ESTABLISHED} == int{DOWNBEAT_TCP_STATE_ESTABLISHED});
static_assert(int{DOWNBEAT_FIN_WAIT_1} == int{DOWNBEAT_TCP_STATE_FIN_WAIT1});
static_assert(int{DOWNBEAT_FIN_WAIT_2} == int{DOWNBEAT_TCP_STATE_FIN_WAIT2});
static_assert(int{DOWNBEAT_CLOSE_WAIT} == int{DOWNBEAT_TCP_STATE_CLOSE_WAIT});
static_assert(int{DOWNBEAT_CLOSING} == int{DOWNBEAT_TCP_STATE_CLOSING});
static_assert(int{DOWNBEAT_LAST_ACK} == int{DOWNBEAT_TCP_STATE_LAST_ACK});
static_assert(int{DOWNBEAT_TIME_WAIT} == int{DOWNBEAT_TCP_STATE_TIME_WAIT});

const char *textOf(std::span<const char *const> names, int number) {
  return number >= 0 && static_cast<std::size_t>(number) < names.size() ? names[static_cast<std::size_t>(number)]
                                                                        : "unknown";
}

int indexOf(std::span<const char *const> names, std::string_view name) {
  for (std::size_t index = 0; index < names.size(); ++index)
    if (!name.empty() && names[index] == name) return static_cast<int>(index);
  return -1;
}

} // namespace

const char *stateText(int state) { return textOf(states, state); }
const char *eventText(int kind) { return textOf(events, kind); }
const char *congestionText(int kind) { return textOf(congestion, kind); }
const char *startupText(int policy) { return textOf(startup, policy); }
const char *steadyText(int policy) { return textOf(steady, policy); }
int startupIndex(std::string_view name) { return indexOf(startup, name); }
int steadyIndex(std::string_view name) { return indexOf(steady, name); }

} // namespace downbeat
