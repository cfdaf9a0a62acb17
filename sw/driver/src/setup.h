// SPDX-License-Identifier: BSD-2-Clause-Patent
// Set-up of a device by its registers: which core it is, its addresses, its memory, its ports. For whoever has
// the whole device: this library, or the NIC process.
#pragma once

#include "port.h"

namespace downbeat {

struct Addresses {
  std::uint32_t ip = 0, netmask = 0, gateway = 0;
  std::uint64_t mac = 0; // first byte of the wire in bits 47 to 40
};

/// A part of the host's memory as both sides see it.
struct Memory {
  std::uint8_t *bytes = nullptr;
  std::uint64_t busAddress = 0;
};

/// Offsets and lengths of a port's rings behind the payload memory, bytes.
struct RingLayout {
  static constexpr std::uint32_t commandsLog2 = 8, notificationsLog2 = 10;
  static constexpr std::uint64_t bytes = (sizeof(format::Command) << commandsLog2) + // a multiple of 4096 each
                                         (sizeof(format::Notification) << notificationsLog2);
};

/// Reads which core it is. Throws WRONG_VERSION, with both versions, unless it is one that this library knows.
Geometry identify(Registers &registers);
/// The same without a host half: the board behind a UART.
Geometry identifyCore(Registers &registers);
/// Refuses a NIC process or core of another format; `what` is its name in the message.
void sameFormat(const char *what, std::uint32_t number, std::uint32_t hash, std::uint32_t version);

/// Whether a core can have these sizes: then its memory's size is no overflow, and its rings lie in it.
bool isPossible(const Geometry &geometry);
/// Bytes that payload and the rings of so many ports need.
std::uint64_t memoryBytes(const Geometry &geometry, std::uint32_t ports);
/// The rings of a port in a device's memory.
Rings ringsOf(const Geometry &geometry, std::uint8_t *memory, std::uint32_t port);

/// Stops the core, tells it its addresses and where its payload is, and starts it. Everything it knew is forgotten.
void configure(Registers &registers, const Addresses &addresses, const std::uint32_t (&secret)[4],
               const Memory &memory);
/// Afterwards the core does not touch memory any more, and has forgotten everything. What is under way leaves first,
/// for some time.
void stopCore(Registers &registers);
Addresses addressesOf(Registers &registers);
void addNeighbour(Registers &registers, std::uint32_t ip, std::uint64_t mac);

/// Empties a port's rings and starts it. `holdOff`: ns between two interrupts at least.
void startPort(Registers &registers, const Geometry &geometry, std::uint32_t port, const Memory &memory,
               std::uint32_t holdOff);
/// Afterwards the core does not touch the port's rings any more.
void stopPort(Registers &registers, std::uint32_t port);

/// Random, for the key of the core's hashes.
void drawSecret(std::uint32_t (&secret)[4]);

} // namespace downbeat
