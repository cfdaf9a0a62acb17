// SPDX-License-Identifier: BSD-2-Clause-Patent
// A simulated device out of its library (downbeat_model.h).
#pragma once

#include <memory>
#include <string>

#include "downbeat_model.h"
#include "port.h"

namespace downbeat {

class Model : public Registers {
public:
  /// `preset`: libdownbeat_host_PRESET.so in $DOWNBEAT_MODELS or where libraries are; or a path.
  explicit Model(const std::string &preset, std::uint64_t linkRate = 1'000'000'000);

  std::uint32_t read(std::uint32_t address) override;
  void write(std::uint32_t address, std::uint32_t value) override { calls_->write(model_.get(), address, value); }

  void setMemory(std::uint8_t *memory, std::uint64_t bytes) { calls_->set_memory(model_.get(), memory, bytes); }
  void setStalls(std::uint32_t of256, std::uint32_t seed) { calls_->set_stalls(model_.get(), of256, seed); }
  std::uint32_t interrupts() const { return calls_->interrupts(model_.get()); }
  std::uint64_t now() const { return calls_->now(model_.get()); }
  std::uint64_t nextDeadline() const { return calls_->next_deadline(model_.get()); }
  void advance(std::uint64_t until) { calls_->advance_to(model_.get(), until); }
  bool putFrame(const std::uint8_t *frame, std::size_t length, std::uint64_t arrival) {
    return calls_->put_frame(model_.get(), frame, length, arrival) == 0;
  }
  std::int64_t getFrame(std::uint8_t *frame, std::size_t capacity, std::uint64_t *departure) {
    return calls_->get_frame(model_.get(), frame, capacity, departure);
  }
  std::int64_t getBypass(std::uint8_t *frame, std::size_t capacity) {
    return calls_->get_bypass(model_.get(), frame, capacity);
  }

private:
  struct Close {
    void operator()(void *library) const;
  };
  struct Destroy {
    const downbeat_model_calls *calls;
    void operator()(downbeat_model *model) const { calls->destroy(model); }
  };

  std::unique_ptr<void, Close> library_;
  const downbeat_model_calls *calls_ = nullptr;
  std::unique_ptr<downbeat_model, Destroy> model_{nullptr, {}};
};

} // namespace downbeat
