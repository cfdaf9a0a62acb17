// SPDX-License-Identifier: BSD-2-Clause-Patent
// uio: and vfio: a device whose registers are mapped, with its rings in this process's memory.
//
// A timer makes the descriptor readable five times a second: a poll finds notifications whose interrupt was lost, and
// checks that the device is still there, runs the port and does commands.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "mapping.h"
#include "setup.h"

namespace downbeat {

/// A mapped region of registers and a region of memory that the device reaches too.
struct MappedDevice {
  Mapping registers, memory;
  std::uint64_t busAddress = 0; // of the memory
  File control, interrupt; // UIO's, which the interrupt is enabled by; the interrupt's counts. Or no file
  std::vector<File> kept;
};

/// `name`: /dev/uioN, or a file that stands for the registers. "?memory=FILE" is the memory; without, huge pages are.
MappedDevice openUio(const std::string &name);
/// `name`: a PCI address, 0000:01:00.0; or as for uio a file.
MappedDevice openVfio(const std::string &name);

class MappedPort : public Port, public Registers {
public:
  explicit MappedPort(MappedDevice device);
  ~MappedPort() override;

  const Geometry &geometry() const override { return geometry_; }
  const Rings &rings() const override { return rings_; }
  void ring(std::uint32_t offset, std::uint32_t value) override;
  void ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) override;
  std::uint32_t commandHead() override;
  int descriptor() const override { return device_.interrupt ? ready_.get() : -1; }
  void clearInterrupt() override;
  bool alive() const override { return !gone_.load(std::memory_order_relaxed); }

  std::uint32_t read(std::uint32_t address) override;
  void write(std::uint32_t address, std::uint32_t value) override;

private:
  void enableInterrupt();
  void look();
  void stop();

  MappedDevice device_;
  std::mutex mutex_; // between the halves of a pair
  Geometry geometry_;
  Rings rings_;
  File timer_, ready_; // ready_: epoll of the interrupt and the timer
  std::atomic<std::uint32_t> commandTail_ = 0; // as it was rung
  std::uint32_t commandHead_ = 0; // at the last look
  int looks_ = 0; // without a command done, while some wait
  std::atomic<bool> gone_ = false;
};

} // namespace downbeat
