// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "setup.h"

#include <bit>
#include <chrono>
#include <cstring>

#include <sys/random.h>

#include "downbeat_host.h"
#include "downbeat_registers.h"
#include "failure.h"
#include "formatted.h"

namespace downbeat {

namespace {

using namespace std::chrono_literals;

constexpr auto timeout = 1s; // for a port or the core to start or stop

std::string versionText(std::uint32_t version) {
  return formatted("%u.%u.%u", version >> 16 & 0xff, version >> 8 & 0xff, version & 0xff);
}

std::uint32_t blockOf(std::uint32_t port) { return format::portBlocks + port * format::portBlockBytes; }

void writeWide(Registers &registers, std::uint32_t low, std::uint32_t high, std::uint64_t value) {
  registers.write(low, static_cast<std::uint32_t>(value));
  registers.write(high, static_cast<std::uint32_t>(value >> 32));
}

std::uint64_t ringsBase(const Geometry &geometry, std::uint32_t port) {
  return geometry.payloadBytes() + port * RingLayout::bytes;
}

/// A register, when one of these bits is `wanted`, or after some time as it is.
std::uint32_t await(Registers &registers, std::uint32_t address, std::uint32_t bits, bool wanted) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  std::uint32_t value;
  do value = registers.read(address);
  while (((value & bits) != 0) != wanted && std::chrono::steady_clock::now() < end);
  return value;
}

std::uint32_t awaitPort(Registers &registers, std::uint32_t port, std::uint32_t bits, bool wanted) {
  return await(registers, blockOf(port) + format::portStatus, bits, wanted);
}

/// At once. Afterwards what the core wrote is in memory, and it writes no more.
void resetCore(Registers &registers) {
  registers.write(DOWNBEAT_REG_CONTROL, 0);
  // The answer comes behind what the core wrote before (PCI Express 2.4.1: a completion passes no posted write).
  if ((await(registers, DOWNBEAT_REG_STATUS, DOWNBEAT_REG_STATUS_RUNNING_MASK, false) &
       DOWNBEAT_REG_STATUS_RUNNING_MASK) != 0)
    throw Failure(DOWNBEAT_NO_DEVICE, "the core does not stop: reset the device");
}

} // namespace

Geometry identifyCore(Registers &registers) {
  if (const std::uint32_t magic = registers.read(DOWNBEAT_REG_MAGIC); magic != DOWNBEAT_MAGIC)
    throw Failure(DOWNBEAT_NO_DEVICE,
                  formatted("what answers is not a Downbeat core: its first register is 0x%08x, not 0x%08x", magic,
                            DOWNBEAT_MAGIC));
  Geometry geometry;
  geometry.version = registers.read(DOWNBEAT_REG_VERSION);
  geometry.flows = registers.read(DOWNBEAT_REG_FLOWS);
  geometry.listeners = registers.read(DOWNBEAT_REG_LISTENERS);
  geometry.sendBytes = registers.read(DOWNBEAT_REG_SEND_BUFFER_BYTES);
  geometry.receiveBytes = registers.read(DOWNBEAT_REG_RECEIVE_BUFFER_BYTES);
  geometry.mtu = registers.read(DOWNBEAT_REG_MTU);
  geometry.mss = registers.read(DOWNBEAT_REG_OWN_MSS);
  geometry.clockHz = registers.read(DOWNBEAT_REG_CLOCK_HZ);
  const Addresses addresses = addressesOf(registers);
  geometry.ip = addresses.ip;
  geometry.netmask = addresses.netmask;
  geometry.gateway = addresses.gateway;
  geometry.mac = addresses.mac;
  return geometry;
}

Geometry identify(Registers &registers) {
  Geometry geometry = identifyCore(registers);
  const std::uint32_t number = registers.read(format::hostFormat);
  geometry.formatHash = registers.read(format::formatHash);
  sameFormat("the core", number, geometry.formatHash, geometry.version);
  geometry.policyHash = registers.read(format::policyHash);
  geometry.ports = registers.read(format::hostPorts);
  if (!isPossible(geometry))
    throw Failure(DOWNBEAT_NO_DEVICE,
                  formatted("no core has these sizes (%u flows, rings of %u and %u bytes, %u ports): reset the device",
                            geometry.flows, geometry.sendBytes, geometry.receiveBytes, geometry.ports));
  return geometry;
}

void sameFormat(const char *what, std::uint32_t number, std::uint32_t hash, std::uint32_t version) {
  if (number == format::number && hash == DOWNBEAT_HOST_FORMAT_HASH) return;
  throw Failure(
      DOWNBEAT_WRONG_VERSION,
      formatted("%s has host format %u/%08x (version %s), this libdownbeat %u/%08x: build both from one release", what,
                number, hash, versionText(version).c_str(), format::number, DOWNBEAT_HOST_FORMAT_HASH));
}

bool isPossible(const Geometry &geometry) {
  constexpr std::uint32_t maxFlows = 1 << 16, maxRing = 1 << 30, maxPorts = 32; // bits of a reference, of a window, of
                                                                                // the interrupts
  const auto isRing = [](std::uint32_t bytes) { return std::has_single_bit(bytes) && bytes <= maxRing; };
  return geometry.flows - 1 < maxFlows && isRing(geometry.sendBytes) && isRing(geometry.receiveBytes) &&
         geometry.ports <= maxPorts && geometry.port < geometry.ports;
}

std::uint64_t memoryBytes(const Geometry &geometry, std::uint32_t ports) { return ringsBase(geometry, ports); }

Rings ringsOf(const Geometry &geometry, std::uint8_t *memory, std::uint32_t port) {
  constexpr std::size_t commands = std::size_t{1} << RingLayout::commandsLog2;
  constexpr std::size_t notifications = std::size_t{1} << RingLayout::notificationsLog2;
  std::uint8_t *base = memory + ringsBase(geometry, port);
  return {{reinterpret_cast<format::Command *>(base), commands},
          {reinterpret_cast<format::Notification *>(base + commands * sizeof(format::Command)), notifications},
          memory};
}

void configure(Registers &registers, const Addresses &addresses, const std::uint32_t (&secret)[4],
               const Memory &memory) {
  resetCore(registers); // a program that was killed may have left it on
  registers.write(DOWNBEAT_REG_LOCAL_MAC_HIGH, static_cast<std::uint32_t>(addresses.mac >> 32));
  registers.write(DOWNBEAT_REG_LOCAL_MAC_LOW, static_cast<std::uint32_t>(addresses.mac));
  registers.write(DOWNBEAT_REG_LOCAL_IP, addresses.ip);
  registers.write(DOWNBEAT_REG_LOCAL_NETMASK, addresses.netmask);
  registers.write(DOWNBEAT_REG_LOCAL_GATEWAY, addresses.gateway);
  registers.write(DOWNBEAT_REG_SECRET3, secret[3]);
  registers.write(DOWNBEAT_REG_SECRET2, secret[2]);
  registers.write(DOWNBEAT_REG_SECRET1, secret[1]);
  registers.write(DOWNBEAT_REG_SECRET0, secret[0]);
  writeWide(registers, format::payloadBaseLow, format::payloadBaseHigh, memory.busAddress);
  registers.write(DOWNBEAT_REG_CONTROL, DOWNBEAT_REG_CONTROL_ENABLE_MASK);
}

void stopCore(Registers &registers) {
  await(registers, DOWNBEAT_REG_STATUS, DOWNBEAT_REG_STATUS_IDLE_MASK, true); // resets of what was aborted
  resetCore(registers);
}

Addresses addressesOf(Registers &registers) {
  return {registers.read(DOWNBEAT_REG_LOCAL_IP), registers.read(DOWNBEAT_REG_LOCAL_NETMASK),
          registers.read(DOWNBEAT_REG_LOCAL_GATEWAY),
          std::uint64_t{registers.read(DOWNBEAT_REG_LOCAL_MAC_HIGH)} << 32 |
              registers.read(DOWNBEAT_REG_LOCAL_MAC_LOW)};
}

void addNeighbour(Registers &registers, std::uint32_t ip, std::uint64_t mac) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while ((registers.read(DOWNBEAT_REG_STATUS) & DOWNBEAT_REG_STATUS_NEIGHBOUR_WAITS_MASK) != 0)
    if (std::chrono::steady_clock::now() > end)
      throw Failure(DOWNBEAT_OUT_OF_RESOURCES, "the core takes no static neighbour: it does not run, or has enough");
  registers.write(DOWNBEAT_REG_NEIGHBOUR_IP, ip);
  registers.write(DOWNBEAT_REG_NEIGHBOUR_HIGH, static_cast<std::uint32_t>(mac >> 32));
  registers.write(DOWNBEAT_REG_NEIGHBOUR_MAC_LOW, static_cast<std::uint32_t>(mac));
}

void startPort(Registers &registers, const Geometry &geometry, std::uint32_t port, const Memory &memory,
               std::uint32_t holdOff) {
  const std::uint64_t commands = ringsBase(geometry, port);
  const std::uint64_t notifications = commands + (sizeof(format::Command) << RingLayout::commandsLog2);
  std::memset(memory.bytes + commands, 0, RingLayout::bytes);
  const std::uint32_t block = blockOf(port);
  writeWide(registers, block + format::commandBaseLow, block + format::commandBaseHigh, memory.busAddress + commands);
  registers.write(block + format::commandSizeLog2, RingLayout::commandsLog2);
  writeWide(registers, block + format::notificationBaseLow, block + format::notificationBaseHigh,
            memory.busAddress + notifications);
  registers.write(block + format::notificationSizeLog2, RingLayout::notificationsLog2);
  registers.write(block + format::holdOff, holdOff);
  registers.write(block + format::portControl, 1);
  if (const std::uint32_t status = awaitPort(registers, port, format::portRunning | format::portRefused, true);
      (status & format::portRunning) == 0)
    throw Failure(DOWNBEAT_NO_PORT, formatted("port %u does not start (status 0x%x): reset the core", port, status));
}

void stopPort(Registers &registers, std::uint32_t port) {
  registers.write(blockOf(port) + format::portControl, 0);
  if ((awaitPort(registers, port, format::portRunning, false) & format::portRunning) != 0)
    throw Failure(DOWNBEAT_NO_PORT, formatted("port %u does not stop: reset the core", port));
}

void drawSecret(std::uint32_t (&secret)[4]) {
  if (getrandom(secret, sizeof secret, 0) != sizeof secret)
    throw Failure(DOWNBEAT_NO_DEVICE, "the kernel has no random numbers");
}

} // namespace downbeat
