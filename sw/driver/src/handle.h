// SPDX-License-Identifier: BSD-2-Clause-Patent
// The object behind a downbeat_device, and how its calls fail.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "device.h"
#include "failure.h"
#include "sim_port.h"
#include "uart_registers.h"

struct downbeat_device {
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

} // namespace downbeat
