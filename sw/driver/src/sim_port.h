// SPDX-License-Identifier: BSD-2-Clause-Patent
// sim: a simulated device in this process. Its caller owns time and wire.
#pragma once

#include <mutex>

#include "mapping.h"
#include "model.h"
#include "setup.h"

namespace downbeat {

class SimPort : public Port, public Registers, public Simulation {
public:
  explicit SimPort(const std::string &preset);

  const Geometry &geometry() const override { return geometry_; }
  const Rings &rings() const override { return rings_; }
  void ring(std::uint32_t offset, std::uint32_t value) override;
  void ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) override;
  std::uint32_t commandHead() override;
  int descriptor() const override { return interrupt_.get(); }
  void clearInterrupt() override;
  std::uint64_t time() const override { return now() >> 16; }

  std::uint32_t read(std::uint32_t address) override;
  void write(std::uint32_t address, std::uint32_t value) override;
  /// Own address; the core forgets everything.
  void reconfigure(const Addresses &addresses);

  downbeat_time now() const override;
  downbeat_time nextDeadline() const override;
  void advance(downbeat_time until) override;
  bool putFrame(const std::uint8_t *frame, std::size_t length, downbeat_time arrival) override;
  std::int64_t getFrame(std::uint8_t *frame, std::size_t capacity, downbeat_time *departure) override;

private:
  void raise();

  mutable std::mutex mutex_; // a model is single-threaded
  Model model_;
  Geometry geometry_;
  Mapping memory_;
  Rings rings_;
  File interrupt_;
  bool raised_ = false;
};

} // namespace downbeat
