// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated Pacer: bookings in, grants out, and time as this bench says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include <verilated.h>

#include "Vpacer.h"

namespace pacing {

/// A time or duration in 2^-32 ns; what the module wraps at 2^48 ns goes on here.
__extension__ typedef unsigned __int128 Instant;
constexpr Instant instant(std::uint64_t ns) { return Instant{ns} << 32; }
constexpr std::uint64_t nanoseconds(Instant time) { return static_cast<std::uint64_t>(time >> 32); }

/// The module did what it must not.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Booking {
  std::uint32_t flow;
  bool first;
  std::uint64_t spacing; // ns per byte, 32 fraction bits
  std::uint16_t previousLength;
};

struct Grant {
  std::uint32_t flow;
  Instant launch;      // a multiple of 2^-16 ns
  std::uint64_t clock; // in which it was taken
};

class Module {
public:
  /// Just before the 48 bits wrap, which all runs therefore pass.
  static constexpr std::uint64_t begin = (std::uint64_t{1} << 48) - 1'000'000'000; // ns
  static constexpr std::uint64_t lead = 4000;                                      // ns, DownbeatConfig.grantLead

  Module();
  ~Module() { top_->final(); }

  std::uint64_t now() const { return now_; } // ns
  /// Monotone; the module sees it from the next clock on.
  void set(std::uint64_t now);
  std::uint64_t clocks() const { return clocks_; }
  /// Clocks until the module is at rest; grants on the way go to `grants`.
  void settle();
  /// One clock, in which the booking is taken.
  void book(const Booking &booking);
  /// When the module at rest wants attention, ns; throws if it wants none.
  std::uint64_t next() const;

  std::vector<Grant> grants;

private:
  void clock();

  VerilatedContext context_;
  std::unique_ptr<Vpacer> top_;
  std::uint64_t now_ = begin, clocks_ = 0;
};

/// When a flow's segments are granted, by exact integers.
class Schedule {
public:
  /// The grant's instant.
  Instant book(const Booking &booking, std::uint64_t now);
  /// The launch of what is booked, as the module rounds it: up to 2^-16 ns.
  Instant launch() const { return (booked_ + instant(Module::lead) + 0xffff) >> 16 << 16; }
  void granted() { before_ = booked_; }
  /// The time of the grant, unrounded; the departure is a lead later.
  Instant booked() const { return booked_; }

private:
  Instant before_ = 0, booked_ = 0;
};

} // namespace pacing
