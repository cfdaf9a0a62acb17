// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C interface's calls for sim: alone: time and wire.
#include "handle.h"

using namespace downbeat;

extern "C" {

downbeat_time downbeat_sim_now(const downbeat_device *device) {
  return isHere(device) && device->simulation != nullptr ? device->simulation->now() : 0;
}

downbeat_time downbeat_sim_next_deadline(const downbeat_device *device) {
  return isHere(device) && device->simulation != nullptr ? device->simulation->nextDeadline() : DOWNBEAT_NEVER;
}

int downbeat_sim_advance_to(downbeat_device *device, downbeat_time until) {
  return called(device, [&] {
    if (until == DOWNBEAT_NEVER) throw Failure(DOWNBEAT_INVALID_ARGUMENT, "time cannot run for ever");
    device->time().advance(until);
    return int{DOWNBEAT_OK};
  });
}

int downbeat_sim_put_frame(downbeat_device *device, const uint8_t *frame, size_t length, downbeat_time arrival) {
  return called(device, [&] {
    if (!device->time().putFrame(frame, length, arrival))
      return failed(DOWNBEAT_FRAME_SIZE, "no frame of this core's sizes: " + std::to_string(length) + " bytes");
    return int{DOWNBEAT_OK};
  });
}

int64_t downbeat_sim_get_frame(downbeat_device *device, uint8_t *frame, size_t capacity, downbeat_time *departure) {
  return called(device, [&]() -> std::int64_t {
    const std::int64_t length = device->time().getFrame(frame, capacity, departure);
    return length < 0 ? std::int64_t{DOWNBEAT_WOULD_BLOCK} : length;
  });
}

} // extern "C"
