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
    if (names[index] == name) return static_cast<int>(index);
  return -1;
}

} // namespace

const char *errorText(int error) {
  switch (error) {
  case DOWNBEAT_OK: return "success";
  case DOWNBEAT_WOULD_BLOCK: return "nothing to do now: advance the device and try again";
  case DOWNBEAT_INVALID_ARGUMENT:
    return "invalid argument: a null pointer, a zero port or length, or a value out of its range";
  case DOWNBEAT_UNKNOWN_PRESET:
    return "this library was built from another preset: see downbeat_sim_preset, build with PRESET=name";
  case DOWNBEAT_UNKNOWN_POLICY:
    return "no congestion policy of that name in this build: see rtl/downbeat/builds/Policies.scala";
  case DOWNBEAT_UNKNOWN_CONNECTION: return "no such connection: it was closed or aborted, or never was";
  case DOWNBEAT_NOT_LISTENING: return "nobody listens on that port: call downbeat_sim_listen first";
  case DOWNBEAT_SHUT_DOWN: return "the sending side is shut down";
  case DOWNBEAT_REFUSED: return "the peer refused the connection";
  case DOWNBEAT_RESET: return "the peer reset the connection";
  case DOWNBEAT_TIMED_OUT: return "the peer no longer answers";
  case DOWNBEAT_ABORTED: return "the connection was aborted on this side";
  case DOWNBEAT_OUT_OF_RESOURCES: return "no free flow, listener or port: close a connection or build with more";
  case DOWNBEAT_FRAME_SIZE: return "frame shorter than an Ethernet header or longer than the build's largest";
  case DOWNBEAT_NO_WAVES: return "no waves: this library was built without them, or the file cannot be written";
  case DOWNBEAT_UNREACHABLE:
    return "no way to that address: its next hop does not answer, the network says so, or it is no host's";
  case DOWNBEAT_POLICY_ARGUMENT: return "a policy does not take that argument: see downbeat_sim_argument_problem";
  case DOWNBEAT_NOT_SUPPORTED: return "this build cannot do that: build with hostStart";
  case DOWNBEAT_ADDRESS_IN_USE:
    return "somebody listens on that port, or there is such a connection: take another port";
  default: return "unknown error";
  }
}

const char *stateText(int state) { return textOf(states, state); }
const char *eventText(int kind) { return textOf(events, kind); }
const char *congestionText(int kind) { return textOf(congestion, kind); }
const char *startupText(int policy) { return textOf(startup, policy); }
const char *steadyText(int policy) { return textOf(steady, policy); }
int startupIndex(std::string_view name) { return indexOf(startup, name); }
int steadyIndex(std::string_view name) { return indexOf(steady, name); }

} // namespace downbeat
