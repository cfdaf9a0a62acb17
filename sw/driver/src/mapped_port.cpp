// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "mapped_port.h"

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "downbeat_registers.h"

namespace downbeat {

namespace {

constexpr std::uint32_t holdOff = 10'000; // ns
constexpr timespec lookInterval{0, 200'000'000};
constexpr int maxLooks = 5; // the core does a command in microseconds
constexpr std::uint32_t allOnes = 0xffffffff; // a read that nothing responds to

} // namespace

MappedPort::MappedPort(MappedDevice device) : device_(std::move(device)), geometry_(identify(*this)) {
  const std::uint64_t needed = memoryBytes(geometry_, 1);
  if (device_.memory.bytes() < needed)
    throw Failure(DOWNBEAT_OUT_OF_RESOURCES,
                  "the device needs " + std::to_string(needed) + " bytes of memory, there are " +
                      std::to_string(device_.memory.bytes()) + ": give more huge pages (vm.nr_hugepages)");
  if (device_.busAddress % geometry_.payloadBytes() != 0)
    throw Failure(DOWNBEAT_OUT_OF_RESOURCES, "the memory's bus address is not a multiple of the payload's " +
                                                 std::to_string(geometry_.payloadBytes()) + " bytes");
  rings_ = ringsOf(geometry_, device_.memory.base(), 0);
  const Memory memory{device_.memory.base(), device_.busAddress};
  std::uint32_t secret[4];
  drawSecret(secret);
  try {
    configure(*this, addressesOf(*this), secret, memory);
    startPort(*this, geometry_, 0, memory, holdOff);
  } catch (...) {
    stop();
    throw;
  }
  timer_ = File(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  ready_ = File(epoll_create1(EPOLL_CLOEXEC));
  const itimerspec period{lookInterval, lookInterval};
  if (!timer_ || !ready_ || timerfd_settime(timer_.get(), 0, &period, nullptr) != 0) {
    stop();
    throw Failure(DOWNBEAT_OUT_OF_RESOURCES, "no descriptor for the device's timer");
  }
  for (const int each : {device_.interrupt.get(), timer_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (each >= 0) epoll_ctl(ready_.get(), EPOLL_CTL_ADD, each, &event);
  }
  enableInterrupt(); // the program before may have ended between an interrupt and its word
}

MappedPort::~MappedPort() { stop(); }

void MappedPort::stop() {
  try {
    if (read(DOWNBEAT_REG_STATUS) == allOnes) return; // it has gone
    stopPort(*this, 0);
  } catch (const Failure &) {} // it ends with the core
  try {
    stopCore(*this); // connections that were closed go on without a port, and the memory is others' next
  } catch (const Failure &) {}
}

std::uint32_t MappedPort::read(std::uint32_t address) {
  if (address + sizeof(std::uint32_t) > device_.registers.bytes())
    throw Failure(DOWNBEAT_NO_DEVICE, "the device's registers end at " + std::to_string(device_.registers.bytes()) +
                                          " bytes: it has no host half");
  const std::uint32_t value = *reinterpret_cast<volatile std::uint32_t *>(device_.registers.base() + address);
  std::atomic_thread_fence(std::memory_order_acquire);
  return value;
}

void MappedPort::write(std::uint32_t address, std::uint32_t value) {
  // Writes to memory must be there before the device hears of it. Registers are not cached, so the compiler's order
  // and the processor's between memory and device count.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *reinterpret_cast<volatile std::uint32_t *>(device_.registers.base() + address) = value;
}

void MappedPort::ring(std::uint32_t offset, std::uint32_t value) {
  if (offset == format::commandTail) commandTail_.store(value, std::memory_order_relaxed);
  write(format::doorbellPages + offset, value);
}

void MappedPort::ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) {
  const std::lock_guard lock(mutex_);
  write(format::doorbellPages + offset, low);
  write(format::doorbellPages + offset + 4, high);
}

std::uint32_t MappedPort::commandHead() { return read(format::doorbellPages + format::commandHead); }

void MappedPort::enableInterrupt() {
  if (!device_.control) return;
  const std::uint32_t enable = 1;
  // A kernel driver that masks nothing takes no word: then nothing need be said.
  if (::write(device_.control.get(), &enable, sizeof enable) < 0) return;
}

void MappedPort::look() {
  const std::uint32_t status = read(std::uint32_t{format::portBlocks} + format::portStatus), head = commandHead();
  const bool stands = head != commandTail_.load(std::memory_order_relaxed) && head == commandHead_;
  looks_ = stands ? looks_ + 1 : 0;
  commandHead_ = head;
  // All ones have `stopped` too.
  if ((status & (format::portRunning | format::portStopped)) != format::portRunning || looks_ == maxLooks) gone_ = true;
}

void MappedPort::clearInterrupt() {
  std::uint64_t expirations;
  if (::read(timer_.get(), &expirations, sizeof expirations) > 0) look();
  if (!device_.interrupt) return;
  pollfd state{device_.interrupt.get(), POLLIN, 0};
  std::uint64_t count;
  // UIO gives four bytes, and to who wants more EINVAL; an event descriptor eight.
  const std::size_t bytes = device_.control ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
  if (::poll(&state, 1, 0) > 0 && ::read(device_.interrupt.get(), &count, bytes) > 0) enableInterrupt();
}

} // namespace downbeat
