// SPDX-License-Identifier: BSD-2-Clause-Patent
// The plain C interface. Nothing throws across it.
#include "handle.h"
#include "mapped_port.h"
#include "policies.h"
#include "record.h"
#include "simd_port.h"

using namespace downbeat;

namespace {

std::uint64_t macOf(const std::uint8_t bytes[6]) {
  std::uint64_t mac = 0;
  for (int byte = 0; byte < 6; ++byte) mac = mac << 8 | bytes[byte];
  return mac;
}

std::unique_ptr<downbeat_device> opened(const std::string &text) {
  const auto behind = text.find(",gateway=");
  const std::string uri = text.substr(0, behind);
  auto made = std::make_unique<downbeat_device>();
  made->name = uri;
  const auto colon = uri.find(':');
  const std::string scheme = uri.substr(0, colon), rest = colon == std::string::npos ? "" : uri.substr(colon + 1);
  std::unique_ptr<Port> port;
  if (scheme == "sim") {
    auto sim = std::make_unique<SimPort>(rest);
    made->registers = made->simulation = sim.get();
    port = std::move(sim);
  } else if (scheme == "simd") {
    port = std::make_unique<SimdPort>(rest);
  } else if (scheme == "uio" || scheme == "vfio") {
    auto mapped = std::make_unique<MappedPort>(scheme == "uio" ? openUio(rest) : openVfio(rest));
    made->registers = mapped.get();
    port = std::move(mapped);
  } else if (scheme == "uart") {
    made->uart = std::make_unique<UartRegisters>(rest);
    made->registers = made->uart.get();
    made->boardGeometry = identifyCore(*made->uart);
    return made;
  } else {
    throw Failure(DOWNBEAT_NO_DEVICE, "'" + uri +
                                          "' names no device: sim:PRESET, simd:PATH, uio:/dev/uioN, "
                                          "vfio:0000:01:00.0 or uart:/dev/ttyN");
  }
  made->device = std::make_unique<Device>(std::move(port));
  if (behind != std::string::npos) made->device->useEstimates(std::make_unique<Estimates>(text.substr(behind + 1)));
  return made;
}

} // namespace

extern "C" {

uint32_t downbeat_abi(void) { return DOWNBEAT_ABI; }

int downbeat_open(const char *uri, downbeat_device **device) {
  return guarded([&] {
    *device = opened(uri).release();
    return int{DOWNBEAT_OK};
  });
}

void downbeat_release(downbeat_device *device) {
  if (device == nullptr || isHere(device)) delete device; // a child leaves its parent's port, and the copy
}

int downbeat_descriptor(const downbeat_device *device) {
  return isHere(device) && device->device != nullptr ? device->device->descriptor() : -1;
}

int64_t downbeat_poll(downbeat_device *device, downbeat_item *items, size_t capacity) {
  return called(device, [&] { return device->connections().poll({items, capacity}); });
}

int downbeat_device_info_of(downbeat_device *device, downbeat_device_info *info) {
  const Geometry &geometry = device->geometry();
  *info = {};
  info->name[device->name.copy(info->name, sizeof info->name - 1)] = '\0';
  info->major = geometry.version >> 16 & 0xff;
  info->minor = geometry.version >> 8 & 0xff;
  info->patch = geometry.version & 0xff;
  info->build = geometry.policyHash;
  info->flows = geometry.flows;
  info->listeners = geometry.listeners;
  info->ports = geometry.ports;
  info->port = geometry.port;
  info->send_bytes = geometry.sendBytes;
  info->receive_bytes = geometry.receiveBytes;
  info->mtu = geometry.mtu;
  info->mss = geometry.mss;
  info->clock_hz = geometry.clockHz;
  info->ip = geometry.ip;
  info->netmask = geometry.netmask;
  info->gateway = geometry.gateway;
  for (int byte = 0; byte < 6; ++byte) info->mac[byte] = static_cast<std::uint8_t>(geometry.mac >> (40 - 8 * byte));
  return DOWNBEAT_OK;
}

int downbeat_set_addresses(downbeat_device *device, uint32_t ip, uint32_t netmask, uint32_t gateway,
                           const uint8_t mac[6]) {
  return called(device, [&] {
    device->time().reconfigure({ip, netmask, gateway, macOf(mac)});
    device->device->restarted();
    return int{DOWNBEAT_OK};
  });
}

int downbeat_add_neighbour(downbeat_device *device, uint32_t ip, const uint8_t mac[6]) {
  return called(device, [&] {
    addNeighbour(device->allRegisters(), ip, macOf(mac));
    return int{DOWNBEAT_OK};
  });
}

int downbeat_core_counter(downbeat_device *device, unsigned index, const char **name, uint32_t *value) {
  return called(device, [&] {
    const char *found = nullptr;
    std::uint32_t read = 0;
    try {
      if (!readCounter(device->allRegisters(), index, found, read)) return int{DOWNBEAT_INVALID_ARGUMENT};
    } catch (const Failure &) { // the MAC's counters are the last, and a core without a MAC has none
      if (found == nullptr || !std::string_view(found).starts_with("mac_")) throw;
      return int{DOWNBEAT_INVALID_ARGUMENT};
    }
    if (name != nullptr) *name = found;
    if (value != nullptr) *value = read;
    return int{DOWNBEAT_OK};
  });
}

const char *downbeat_startup_name(const downbeat_device *device, unsigned number) {
  return device->geometry().policyHash == policyHash() ? policyName(PolicyFamily::startup, number) : nullptr;
}

const char *downbeat_steady_name(const downbeat_device *device, unsigned number) {
  return device->geometry().policyHash == policyHash() ? policyName(PolicyFamily::steady, number) : nullptr;
}

int downbeat_log_freeze(downbeat_device *device, int frozen) {
  return called(device, [&] {
    freezeLog(device->allRegisters(), frozen != 0);
    return int{DOWNBEAT_OK};
  });
}

int downbeat_log_read(downbeat_device *device, unsigned index, downbeat_event *event) {
  return called(device, [&] {
    *event = {};
    return readLog(device->allRegisters(), index, *event) ? int{DOWNBEAT_OK} : int{DOWNBEAT_INVALID_ARGUMENT};
  });
}

int downbeat_connect(downbeat_device *device, uint32_t ip, uint16_t port, uint16_t localPort,
                     const downbeat_options *options, downbeat_connection **connection) {
  return called(device, [&] {
    *connection = device->connections().connect(ip, port, localPort, options);
    return int{DOWNBEAT_OK};
  });
}

int downbeat_listen(downbeat_device *device, uint16_t port, unsigned backlog, const downbeat_options *options,
                    void *context, downbeat_listener **listener) {
  return called(device, [&] {
    *listener = device->connections().listen(port, backlog, options, context);
    return int{DOWNBEAT_OK};
  });
}

int downbeat_listening(downbeat_listener *listener) {
  return called(listener, [&] { return listener->device.listening(*listener); });
}

int downbeat_accept(downbeat_listener *listener, downbeat_connection **connection) {
  return called(listener, [&] { return listener->device.accept(*listener, *connection); });
}

int downbeat_unlisten(downbeat_listener *listener) {
  return called(listener, [&] {
    listener->device.unlisten(listener);
    return int{DOWNBEAT_OK};
  });
}

void downbeat_set_context(downbeat_connection *connection, void *context) {
  if (isHere(connection)) connection->device.setContext(*connection, context);
}

int64_t downbeat_send(downbeat_connection *connection, const void *data, size_t length) {
  if (data == nullptr || length == 0) return failed(DOWNBEAT_INVALID_ARGUMENT, "nothing to send");
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    return connection->send(static_cast<const std::uint8_t *>(data), length);
  });
}

int64_t downbeat_receive(downbeat_connection *connection, void *data, size_t capacity) {
  if (data == nullptr || capacity == 0) return failed(DOWNBEAT_INVALID_ARGUMENT, "no space to receive into");
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    return connection->receive(static_cast<std::uint8_t *>(data), capacity);
  });
}

int64_t downbeat_reserve(downbeat_connection *connection, downbeat_span spans[2]) {
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    return connection->reserve(*reinterpret_cast<downbeat_span(*)[2]>(spans));
  });
}

int downbeat_commit(downbeat_connection *connection, size_t length) {
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    return connection->commit(length);
  });
}

int downbeat_commit_urgent(downbeat_connection *connection, size_t length) {
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    return connection->commit(length, true);
  });
}

int64_t downbeat_peek(downbeat_connection *connection, downbeat_span spans[2]) {
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    return connection->peek(*reinterpret_cast<downbeat_span(*)[2]>(spans));
  });
}

int downbeat_consume(downbeat_connection *connection, size_t length) {
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    return connection->consume(length);
  });
}

int downbeat_shutdown(downbeat_connection *connection) {
  return called(connection, [&] { return connection->device.shutdown(*connection); });
}

int downbeat_close(downbeat_connection *connection) {
  return called(connection, [&] {
    connection->device.letGo(connection, format::Opcode::close);
    return int{DOWNBEAT_OK};
  });
}

int downbeat_abort(downbeat_connection *connection) {
  return called(connection, [&] {
    connection->device.letGo(connection, format::Opcode::abort);
    return int{DOWNBEAT_OK};
  });
}

int downbeat_set_policies(downbeat_connection *connection, const downbeat_parameters *parameters) {
  return called(connection, [&] { return connection->device.setPolicies(*connection, *parameters); });
}

int downbeat_set_times(downbeat_connection *connection, uint32_t keepAlive, uint32_t userTimeout) {
  return called(connection, [&] { return connection->device.setTimes(*connection, keepAlive, userTimeout); });
}

int downbeat_start(downbeat_connection *connection, const downbeat_parameters *parameters) {
  return called(connection, [&] { return connection->device.start(*connection, *parameters); });
}

int downbeat_keep_stamps(downbeat_connection *connection) {
  return called(connection, [&] { return connection->device.keepStamps(*connection); });
}

int64_t downbeat_stamps(downbeat_connection *connection, downbeat_stamp *stamps, size_t capacity, uint64_t *dropped) {
  return called(connection, [&]() -> int64_t {
    if (stamps == nullptr && capacity != 0) return failed(DOWNBEAT_INVALID_ARGUMENT);
    return connection->device.stamps(*connection, {stamps, capacity}, dropped);
  });
}

int downbeat_connection_info(downbeat_connection *connection, downbeat_connection_info_t *info) {
  return called(connection, [&] {
    const std::lock_guard lock(connection->mutex);
    connection->info(*info);
    return int{DOWNBEAT_OK};
  });
}

int downbeat_connection_estimate(downbeat_connection *connection, downbeat_estimate *estimate) {
  return called(connection, [&] { return connection->device.estimate(*connection, *estimate); });
}

void downbeat_get_statistics(const downbeat_device *device, downbeat_statistics *statistics) {
  *statistics = device->device != nullptr ? device->device->statistics() : downbeat_statistics{};
}

} // extern "C"
