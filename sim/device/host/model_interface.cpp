// SPDX-License-Identifier: BSD-2-Clause-Patent
// libdownbeat_host_PRESET.so: the Verilated DownbeatHost behind the driver's model interface.
#include <new>

#include "downbeat_model.h"
#include "host_device.h"

namespace {

using downbeat::Frame;
using downbeat::HostDevice;

HostDevice &of(downbeat_model *model) { return *reinterpret_cast<HostDevice *>(model); }
const HostDevice &of(const downbeat_model *model) { return *reinterpret_cast<const HostDevice *>(model); }

std::int64_t take(std::deque<Frame> &frames, std::uint8_t *bytes, std::size_t capacity, std::uint64_t *time) {
  if (frames.empty()) return -1;
  const Frame &frame = frames.front();
  const std::uint32_t length = frame.length;
  std::memcpy(bytes, frame.bytes, std::min<std::size_t>(length, capacity));
  if (time != nullptr) *time = frame.time;
  frames.pop_front();
  return length;
}

const downbeat_model_calls calls = {
    .abi = DOWNBEAT_MODEL_ABI,
    .preset = DOWNBEAT_HOST_NAME,
    .create =
        [](std::uint64_t rate) { return reinterpret_cast<downbeat_model *>(new (std::nothrow) HostDevice(rate)); },
    .destroy = [](downbeat_model *model) { delete &of(model); },
    .set_memory =
        [](downbeat_model *model, std::uint8_t *memory, std::uint64_t bytes) {
          of(model).memory.bytes = memory;
          of(model).memory.size = bytes;
        },
    .set_stalls =
        [](downbeat_model *model, std::uint32_t stalls, std::uint32_t seed) {
          of(model).memory.stalls = stalls;
          of(model).memory.draw.seed(seed);
        },
    .read = [](downbeat_model *model, std::uint32_t address,
               std::uint32_t *value) { return of(model).read(address, *value) ? 0 : -1; },
    .write = [](downbeat_model *model, std::uint32_t address, std::uint32_t value) { of(model).write(address, value); },
    .interrupts = [](const downbeat_model *model) { return of(model).interrupts(); },
    .now = [](const downbeat_model *model) { return of(model).now(); },
    .next_deadline = [](const downbeat_model *model) { return of(model).nextDeadline(); },
    .advance_to = [](downbeat_model *model, std::uint64_t until) { of(model).advance(until); },
    .put_frame = [](downbeat_model *model, const std::uint8_t *frame, std::size_t length,
                    std::uint64_t arrival) { return of(model).putFrame(frame, length, arrival) ? 0 : -1; },
    .get_frame = [](downbeat_model *model, std::uint8_t *frame, std::size_t capacity,
                    std::uint64_t *time) { return take(of(model).departed(), frame, capacity, time); },
    .get_bypass = [](downbeat_model *model, std::uint8_t *frame,
                     std::size_t capacity) { return take(of(model).bypassed(), frame, capacity, nullptr); },
};

} // namespace

const downbeat_model_calls *downbeat_model_get(void) { return &calls; }
