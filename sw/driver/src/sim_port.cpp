// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "sim_port.h"

#include <sys/eventfd.h>

namespace downbeat {

namespace {

// Runs of a simulation are the same: nothing of the key is drawn.
constexpr std::uint32_t secret[4] = {0x9e3779b9, 0x7f4a7c15, 0, 0};
constexpr std::uint32_t holdOff = 0; // whoever owns time decides when to look

} // namespace

SimPort::SimPort(const std::string &preset)
    : model_(preset),
      geometry_(identify(model_)),
      memory_(sharedMemory("downbeat-sim", memoryBytes(geometry_, 1)).get(), memoryBytes(geometry_, 1)),
      rings_(ringsOf(geometry_, memory_.base(), 0)),
      interrupt_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  model_.setMemory(memory_.base(), memory_.bytes());
  reconfigure({0x0a000001, 0xffffff00, 0, 0x020000000001});
}

void SimPort::reconfigure(const Addresses &addresses) {
  const std::lock_guard lock(mutex_);
  configure(model_, addresses, secret, {memory_.base(), 0});
  startPort(model_, geometry_, 0, {memory_.base(), 0}, holdOff);
  geometry_.ip = addresses.ip;
  geometry_.netmask = addresses.netmask;
  geometry_.gateway = addresses.gateway;
  geometry_.mac = addresses.mac;
}

void SimPort::ring(std::uint32_t offset, std::uint32_t value) { write(format::doorbellPages + offset, value); }

void SimPort::ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) {
  const std::lock_guard lock(mutex_);
  model_.write(format::doorbellPages + offset, low);
  model_.write(format::doorbellPages + offset + 4, high);
}

std::uint32_t SimPort::commandHead() { return read(format::doorbellPages + format::commandHead); }

std::uint32_t SimPort::read(std::uint32_t address) {
  const std::lock_guard lock(mutex_);
  return model_.read(address);
}

void SimPort::write(std::uint32_t address, std::uint32_t value) {
  const std::lock_guard lock(mutex_);
  model_.write(address, value);
}

void SimPort::raise() {
  if ((model_.interrupts() & 1) == 0) raised_ = false;
  if ((model_.interrupts() & 1) != 0 && !raised_) raised_ = eventfd_write(interrupt_.get(), 1) == 0;
}

void SimPort::clearInterrupt() {
  eventfd_t count;
  eventfd_read(interrupt_.get(), &count);
}

downbeat_time SimPort::now() const {
  const std::lock_guard lock(mutex_);
  return model_.now();
}

downbeat_time SimPort::nextDeadline() const {
  const std::lock_guard lock(mutex_);
  return model_.nextDeadline();
}

void SimPort::advance(downbeat_time until) {
  const std::lock_guard lock(mutex_);
  model_.advance(until);
  raise();
}

bool SimPort::putFrame(const std::uint8_t *frame, std::size_t length, downbeat_time arrival) {
  const std::lock_guard lock(mutex_);
  return model_.putFrame(frame, length, arrival);
}

std::int64_t SimPort::getFrame(std::uint8_t *frame, std::size_t capacity, downbeat_time *departure) {
  const std::lock_guard lock(mutex_);
  return model_.getFrame(frame, capacity, departure);
}

} // namespace downbeat
