// SPDX-License-Identifier: BSD-2-Clause-Patent
// The object behind a downbeat_device, and how its calls fail.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "device.h"
#include "failure.h"
#include "owner.h"
#include "sim_port.h"
#include "uart_registers.h"

struct downbeat_device {
  downbeat::Owner owner;
  std::string name;
  std::unique_ptr<downbeat::UartRegisters> uart; // for boards without a port
  downbeat::Geometry boardGeometry; // of a board behind a UART
  downbeat::Registers *registers = nullptr; // nullptr: another process has them
  downbeat::SimPort *simulation = nullptr; // nullptr: real time
  std::unique_ptr<downbeat::Device> device;

  const downbeat::Geometry &geometry() const { return device != nullptr ? device->port().geometry() : boardGeometry; }
  downbeat::Device &connections() const {
    if (device == nullptr)
      throw downbeat::Failure(DOWNBEAT_NOT_SUPPORTED,
                              name + " has no payload: it gives registers, counters and the event log");
    return *device;
  }
  downbeat::Registers &allRegisters() const {
    if (registers == nullptr)
      throw downbeat::Failure(DOWNBEAT_NOT_SUPPORTED,
                              name + ": the NIC process has the registers: ask it (downbeat ls)");
    return *registers;
  }
  downbeat::SimPort &time() const {
    if (simulation == nullptr)
      throw downbeat::Failure(DOWNBEAT_NOT_SUPPORTED, name + " lives in real time: only sim: has a time of its own");
    return *simulation;
  }
};

namespace downbeat {

/// Runs the call; whatever it throws becomes a code.
template <typename Call> auto guarded(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const Failure &failure) { return failed(failure.code, failure.what()); } catch (const std::bad_alloc &) {
    return failed(DOWNBEAT_OUT_OF_RESOURCES, "not enough memory");
  } catch (const std::exception &error) { // the standard library has no thread, no lock, no random numbers
    return failed(DOWNBEAT_OUT_OF_RESOURCES, error.what());
  }
}

inline bool isHere(const downbeat_device *device) { return device->owner.isHere(); }
template <typename Part> bool isHere(const Part *part) { return part->device.owner.isHere(); }

/// Runs a call of a device, or of a connection or listener of one, in the process that opened it.
template <typename Object, typename Call> auto called(const Object *object, Call call) -> decltype(call()) {
  if (!isHere(object))
    return failed(DOWNBEAT_NOT_SUPPORTED, "this process is a fork of the one that opened the device: open it here");
  return guarded(call);
}

} // namespace downbeat
