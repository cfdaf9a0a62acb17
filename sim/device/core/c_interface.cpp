// SPDX-License-Identifier: BSD-2-Clause-Patent
// The plain C interface over downbeat::Device. Nothing throws across it.
#include <cstring>
#include <new>

#include "device.h"
#include "downbeat_build.h"
#include "downbeat_sim_core.h"
#include "names.h"

struct downbeat_device {
  downbeat::Device device;
};

namespace {

constexpr std::uint64_t defaultLinkRate = 1'000'000'000;
constexpr std::uint32_t defaultStaging = 256 * 1024;

/// First byte of the wire in bits 47 to 40.
std::uint64_t macOf(const std::uint8_t bytes[6]) {
  std::uint64_t mac = 0;
  for (int byte = 0; byte < 6; ++byte) mac = mac << 8 | bytes[byte];
  return mac;
}

int report(int error, int *where) {
  if (where != nullptr) *where = error;
  return error;
}

std::int64_t takeFrame(std::deque<downbeat::Frame> &frames, std::uint8_t *bytes, std::size_t capacity,
                       downbeat_time *time) {
  if (frames.empty()) return DOWNBEAT_WOULD_BLOCK;
  const downbeat::Frame &frame = frames.front();
  const std::uint32_t length = frame.length;
  if (bytes != nullptr) std::memcpy(bytes, frame.bytes, std::min<std::size_t>(length, capacity));
  if (time != nullptr) *time = frame.time;
  frames.pop_front();
  return length;
}

} // namespace

extern "C" {

downbeat_device *downbeat_sim_create(const downbeat_sim_options *options, int *error) {
  if (options == nullptr || options->link_rate > downbeat::Wire::highestLinkRate)
    return report(DOWNBEAT_INVALID_ARGUMENT, error), nullptr;
  if (options->preset != nullptr && std::strcmp(options->preset, DOWNBEAT_PRESET) != 0)
    return report(DOWNBEAT_UNKNOWN_PRESET, error), nullptr;
  try {
    auto *device = new downbeat_device{{{macOf(options->mac), options->ip, options->netmask, options->gateway},
                                        options->link_rate != 0 ? options->link_rate : defaultLinkRate,
                                        options->secret,
                                        options->staging_bytes != 0 ? options->staging_bytes : defaultStaging,
                                        options->initial_values}};
    report(DOWNBEAT_OK, error);
    return device;
  } catch (const std::bad_alloc &) { return report(DOWNBEAT_OUT_OF_RESOURCES, error), nullptr; }
}

void downbeat_sim_destroy(downbeat_device *device) { delete device; }
const char *downbeat_sim_preset(void) { return DOWNBEAT_PRESET; }
const char *downbeat_sim_tap(void) { return DOWNBEAT_TAP; }
uint64_t downbeat_sim_highest_link_rate(void) { return downbeat::Wire::highestLinkRate; }

int downbeat_sim_reset(downbeat_device *device, unsigned clocks) {
  if (clocks == 0) return DOWNBEAT_INVALID_ARGUMENT;
  device->device.reset(clocks);
  return DOWNBEAT_OK;
}

downbeat_time downbeat_sim_now(const downbeat_device *device) { return device->device.now(); }
downbeat_time downbeat_sim_next_deadline(const downbeat_device *device) { return device->device.nextDeadline(); }

int downbeat_sim_advance_to(downbeat_device *device, downbeat_time until) {
  if (until == DOWNBEAT_NEVER) return DOWNBEAT_INVALID_ARGUMENT;
  device->device.advance(until);
  return DOWNBEAT_OK;
}

int downbeat_sim_put_frame(downbeat_device *device, const uint8_t *frame, size_t length, downbeat_time arrival) {
  if (frame == nullptr) return DOWNBEAT_INVALID_ARGUMENT;
  return device->device.putFrame(frame, length, arrival) ? DOWNBEAT_OK : DOWNBEAT_FRAME_SIZE;
}

int downbeat_sim_put_anything(downbeat_device *device, const uint8_t *bytes, size_t length, int damaged,
                              downbeat_time arrival) {
  if (bytes == nullptr || length == 0) return DOWNBEAT_INVALID_ARGUMENT;
  device->device.putAnything(bytes, length, damaged != 0, arrival);
  return DOWNBEAT_OK;
}

int64_t downbeat_sim_get_frame(downbeat_device *device, uint8_t *frame, size_t capacity, downbeat_time *departure) {
  return takeFrame(device->device.departed(), frame, capacity, departure);
}

int64_t downbeat_sim_get_bypass(downbeat_device *device, uint8_t *frame, size_t capacity) {
  return takeFrame(device->device.wire().bypass().received, frame, capacity, nullptr);
}

void downbeat_sim_stall_bypass(downbeat_device *device, int stalled) {
  device->device.wire().bypass().stalled = stalled != 0;
}

int downbeat_sim_put_bypass(downbeat_device *device, const uint8_t *bytes, size_t length) {
  if (bytes == nullptr) return DOWNBEAT_INVALID_ARGUMENT;
  if (length < 14 || length > downbeat::largestFrame) return DOWNBEAT_FRAME_SIZE;
  downbeat::Frame frame;
  std::memcpy(frame.bytes, bytes, length);
  frame.length = static_cast<std::uint32_t>(length);
  device->device.wire().bypass().toSend.push_back(frame);
  return DOWNBEAT_OK;
}

int downbeat_sim_add_neighbour(downbeat_device *device, uint32_t ip, const uint8_t mac[6]) {
  if (mac == nullptr) return DOWNBEAT_INVALID_ARGUMENT;
  device->device.wire().addNeighbour(ip, macOf(mac));
  return DOWNBEAT_OK;
}

int downbeat_sim_connect(downbeat_device *device, uint32_t remoteIp, uint16_t remotePort, uint16_t localPort,
                         const downbeat_parameters *parameters, downbeat_sim_connection *connection) {
  if (connection == nullptr) return DOWNBEAT_INVALID_ARGUMENT;
  if (!device->device.wire().reaches(remoteIp)) return DOWNBEAT_UNREACHABLE;
  return device->device.application().connect(remoteIp, remotePort, localPort, parameters, *connection);
}

int downbeat_sim_listen(downbeat_device *device, uint16_t port, const downbeat_parameters *parameters) {
  return device->device.application().listen(port, parameters);
}

int downbeat_sim_unlisten(downbeat_device *device, uint16_t port) {
  return device->device.application().unlisten(port);
}

int downbeat_sim_accept(downbeat_device *device, uint16_t port, downbeat_sim_connection *connection) {
  if (connection == nullptr) return DOWNBEAT_INVALID_ARGUMENT;
  return device->device.application().accept(port, *connection);
}

int downbeat_sim_set_policies(downbeat_device *device, downbeat_sim_connection connection,
                              const downbeat_parameters *parameters) {
  return device->device.application().setPolicies(connection, parameters);
}

int downbeat_sim_start(downbeat_device *device, downbeat_sim_connection connection,
                       const downbeat_parameters *parameters) {
  return device->device.application().start(connection, parameters);
}

const char *downbeat_sim_argument_problem(const downbeat_device *device) {
  return const_cast<downbeat_device *>(device)->device.application().argumentProblem().c_str();
}

int64_t downbeat_sim_send(downbeat_device *device, downbeat_sim_connection connection, const void *data,
                          size_t length) {
  return device->device.application().send(connection, static_cast<const uint8_t *>(data), length, false);
}

int64_t downbeat_sim_send_urgent(downbeat_device *device, downbeat_sim_connection connection, const void *data,
                                 size_t length) {
  return device->device.application().send(connection, static_cast<const uint8_t *>(data), length, true);
}

int64_t downbeat_sim_receive(downbeat_device *device, downbeat_sim_connection connection, void *data, size_t capacity) {
  return device->device.application().receive(connection, static_cast<uint8_t *>(data), capacity);
}

int downbeat_sim_shutdown(downbeat_device *device, downbeat_sim_connection connection) {
  return device->device.application().shutdown(connection);
}
int downbeat_sim_close(downbeat_device *device, downbeat_sim_connection connection) {
  return device->device.application().close(connection);
}
int downbeat_sim_abort(downbeat_device *device, downbeat_sim_connection connection) {
  return device->device.application().abort(connection);
}

int downbeat_sim_connection_info(const downbeat_device *device, downbeat_sim_connection connection,
                                 downbeat_sim_info *info) {
  if (info == nullptr) return DOWNBEAT_INVALID_ARGUMENT;
  return const_cast<downbeat_device *>(device)->device.application().info(connection, *info);
}

void downbeat_sim_set_event_callback(downbeat_device *device, downbeat_sim_event_callback callback, void *context) {
  device->device.onEvent(callback, context);
}

void downbeat_sim_set_report_callback(downbeat_device *device, downbeat_sim_report_callback callback, void *context) {
  device->device.onReport(callback, context);
}

void downbeat_sim_get_counters(const downbeat_device *device, downbeat_sim_counters *counters) {
  if (counters != nullptr) *counters = device->device.counters();
}

int downbeat_sim_core_counter(const downbeat_device *device, unsigned index, const char **name, uint32_t *value) {
  const auto [text, count] = device->device.coreCounter(index);
  if (text == nullptr || name == nullptr || value == nullptr) return DOWNBEAT_INVALID_ARGUMENT;
  *name = text;
  *value = count;
  return DOWNBEAT_OK;
}

int downbeat_sim_waves(downbeat_device *device, const char *path) {
  return device->device.waves(path) ? DOWNBEAT_OK : DOWNBEAT_NO_WAVES;
}

const char *downbeat_sim_state_text(int state) { return downbeat::stateText(state); }
const char *downbeat_sim_event_text(int kind) { return downbeat::eventText(kind); }
const char *downbeat_sim_congestion_text(int kind) { return downbeat::congestionText(kind); }
const char *downbeat_sim_startup_text(int policy) { return downbeat::startupText(policy); }
const char *downbeat_sim_steady_text(int policy) { return downbeat::steadyText(policy); }

} // extern "C"
