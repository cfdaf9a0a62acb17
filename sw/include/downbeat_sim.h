/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Time and wire of a simulated device. libdownbeat has these calls for `sim:`, libdownbeat_sim.so for its cores
 * (downbeat_sim_core.h).
 *
 * The caller owns time and wire. Something changes only within downbeat_sim_advance_to. Other devices of libdownbeat
 * return NOT_SUPPORTED.
 */
#ifndef DOWNBEAT_SIM_H
#define DOWNBEAT_SIM_H

#include <stddef.h>

#include "downbeat_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A downbeat_time of so many ns. */
#define DOWNBEAT_NANOSECONDS(ns) ((downbeat_time)(ns) << 16)

/** Time up to which everything has happened; 0 on other devices. */
downbeat_time downbeat_sim_now(const downbeat_device *device);
/** Nothing happens before it unless the device is given something; DOWNBEAT_NEVER: it waits for that. */
downbeat_time downbeat_sim_next_deadline(const downbeat_device *device);
/** Runs the core up to and including `until`; an earlier time does nothing. INVALID_ARGUMENT: DOWNBEAT_NEVER. */
int downbeat_sim_advance_to(downbeat_device *device, downbeat_time until);
/** A frame without preamble and FCS arrives, its SFD at `arrival`; in the order of their arrivals. FRAME_SIZE:
 * `length` in bytes is not of this core's frames. */
int downbeat_sim_put_frame(downbeat_device *device, const uint8_t *frame, size_t length, downbeat_time arrival);
/** The next frame whose SFD has left, at `departure`: its length, at most `capacity` bytes of it in `frame`.
 * WOULD_BLOCK: none has. */
int64_t downbeat_sim_get_frame(downbeat_device *device, uint8_t *frame, size_t capacity, downbeat_time *departure);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
