// SPDX-License-Identifier: BSD-2-Clause-Patent
// Numbers of downbeat_parameters: member, field of the core's command, largest value. Generated from the RTL by
// `make generate`; do not edit.
#pragma once

#include <cstdint>

#define DOWNBEAT_PARAMETERS(each)                                                                                      \
  each(initial_window, PARAMETERS_INITIAL_WINDOW, 255u)                                                                \
  each(ssthresh, PARAMETERS_SSTHRESH, 4294967295u)                                                                     \
  each(spacing, PARAMETERS_SPACING, 72057594037927935u)                                                                \
  each(no_delay, PARAMETERS_NO_DELAY, 1u)                                                                              \
  each(nssr, PARAMETERS_NSSR, 1u)                                                                                      \
  each(reno_recovery, PARAMETERS_RENO_RECOVERY, 1u)                                                                    \
  each(no_tail_loss_probe, PARAMETERS_RECOVERY_NO_TAIL_LOSS_PROBE, 1u)                                                 \
  each(no_rack, PARAMETERS_RECOVERY_NO_RACK, 1u)                                                                       \
  each(no_undo, PARAMETERS_RECOVERY_NO_UNDO, 1u)                                                                       \
  each(no_prr, PARAMETERS_RECOVERY_NO_PRR, 1u)                                                                         \
  each(no_growth_limit, PARAMETERS_RECOVERY_NO_GROWTH_LIMIT, 1u)                                                       \
  each(ecn, PARAMETERS_ECN, 1u)                                                                                        \
  each(keep_alive, PARAMETERS_KEEP_ALIVE, 65535u)                                                                      \
  each(user_timeout, PARAMETERS_USER_TIMEOUT, 65535u)                                                                  \
  each(differentiated_services, PARAMETERS_SERVICE_DIFFERENTIATED_SERVICES, 63u)                                       \
  each(time_to_live, PARAMETERS_SERVICE_TIME_TO_LIVE, 255u)

#define DOWNBEAT_START_PARAMETERS(each)                                                                                \
  each(start.window, PARAMETERS_START_WINDOW, 65535u)                                                                  \
  each(start.pace, PARAMETERS_START_PACE, 2u)                                                                          \
  each(start.gap, PARAMETERS_START_GAP, 4503599627370495u)                                                             \
  each(start.until, PARAMETERS_START_UNTIL, 281474976710655u)                                                          \
  each(start.round_trip, PARAMETERS_START_ROUND_TRIP, 68719476735u)

namespace downbeat {

// Largest values of the host start's numbers.
inline constexpr std::uint64_t maxStartWindow = 65535u;
inline constexpr std::uint64_t maxStartPace = 2u;
inline constexpr std::uint64_t maxStartGap = 4503599627370495u;
inline constexpr std::uint64_t maxStartUntil = 281474976710655u;
inline constexpr std::uint64_t maxStartRoundTrip = 68719476735u;

// Bits of counters in a path report.
inline constexpr unsigned ackedBits = 48;
inline constexpr unsigned acksBits = 24;

// The core's time in a path report, ns.
inline constexpr std::uint64_t coreTimeMask = 281474976710655u;

} // namespace downbeat
