// SPDX-License-Identifier: BSD-2-Clause-Patent
// Interface of a device to a program, for each way to reach it: a port's doorbells, its two rings, the payload memory
// and an interrupt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "downbeat.h"
#include "downbeat_sim.h"
#include "format.h"

namespace downbeat {

/// Sizes of the core, and which core it is.
struct Geometry {
  std::uint32_t version = 0; // as the register has it: major 23..16, minor 15..8, patch 7..0
  std::uint32_t formatHash = 0, policyHash = 0;
  std::uint32_t flows = 0, listeners = 0, ports = 0, port = 0;
  std::uint32_t sendBytes = 0, receiveBytes = 0; // of each flow's rings; powers of two
  std::uint32_t mtu = 0, mss = 0, clockHz = 0;
  std::uint32_t ip = 0, netmask = 0, gateway = 0;
  std::uint64_t mac = 0; // first byte of the wire in bits 47 to 40

  std::uint64_t receiveBase() const { return std::uint64_t{flows} * std::max(sendBytes, receiveBytes); }
  std::uint64_t payloadBytes() const { return 2 * receiveBase(); }
};

struct Rings {
  std::span<format::Command> commands;
  std::span<format::Notification> notifications;
  std::uint8_t *payload = nullptr;
};

/// The device's side of one port. Doorbells may be rung by any thread.
class Port {
public:
  virtual ~Port() = default;

  virtual const Geometry &geometry() const = 0;
  virtual const Rings &rings() const = 0;
  /// One 32-bit doorbell of the port's page; the bytes that it tells of are in memory before it.
  virtual void ring(std::uint32_t offset, std::uint32_t value) = 0;
  /// Two halves that no other thread's doorbells part: `low` at `offset`, `high` behind it, which rings.
  virtual void ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) = 0;
  /// commandHead as the device has it now, or as it was reported last.
  virtual std::uint32_t commandHead() = 0;
  /// Readable when the interrupt rose; -1: there is none.
  virtual int descriptor() const = 0;
  virtual void clearInterrupt() = 0;
  /// ns of the core's clock; 0: only what it tells has the time.
  virtual std::uint64_t time() const { return 0; }
  /// Source of a connection's start, a `source` of downbeat_estimate: for whoever watches the device.
  virtual void started(std::uint32_t /*reference*/, std::uint32_t /*source*/) {}
  /// False: the device has gone for good.
  virtual bool alive() const { return true; }
};

/// Registers of the whole device: only where the driver may have them.
class Registers {
public:
  virtual ~Registers() = default;
  /// Throws Failure if the bus answers with an error.
  virtual std::uint32_t read(std::uint32_t address) = 0;
  virtual void write(std::uint32_t address, std::uint32_t value) = 0;
};

/// Time and wire of a simulated device.
class Simulation {
public:
  virtual ~Simulation() = default;
  virtual downbeat_time now() const = 0;
  virtual downbeat_time nextDeadline() const = 0;
  virtual void advance(downbeat_time until) = 0;
  virtual bool putFrame(const std::uint8_t *frame, std::size_t length, downbeat_time arrival) = 0;
  virtual std::int64_t getFrame(std::uint8_t *frame, std::size_t capacity, downbeat_time *departure) = 0;
};

} // namespace downbeat
