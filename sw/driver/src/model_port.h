// SPDX-License-Identifier: BSD-2-Clause-Patent
// A port of a simulated device, for whoever has the whole device: by its registers, without an interrupt.
#pragma once

#include "model.h"
#include "setup.h"

namespace downbeat {

class ModelPort : public Port {
public:
  ModelPort(Model &model, const Geometry &geometry, std::uint8_t *memory, std::uint32_t port)
      : model_(model),
        geometry_(geometry),
        rings_(ringsOf(geometry, memory, port)),
        page_(format::doorbellPages + port * format::pageBytes) {}

  const Geometry &geometry() const override { return geometry_; }
  const Rings &rings() const override { return rings_; }
  void ring(std::uint32_t offset, std::uint32_t value) override { model_.write(page_ + offset, value); }
  void ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) override {
    ring(offset, low);
    ring(offset + 4, high);
  }
  std::uint32_t commandHead() override { return model_.read(page_ + format::commandHead); }
  int descriptor() const override { return -1; }
  void clearInterrupt() override {}

private:
  Model &model_;
  const Geometry &geometry_;
  Rings rings_;
  std::uint32_t page_;
};

} // namespace downbeat
