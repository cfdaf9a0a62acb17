// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "module.h"

#include <algorithm>

namespace pacing {

namespace {
constexpr std::uint64_t wrap = std::uint64_t{1} << 48; // ns
constexpr std::uint64_t timeLimit = 10'000'000;         // clocks
} // namespace

Module::Module() : top_(std::make_unique<Vpacer>(&context_)) {
  top_->grants_ready = 1;
  top_->reset = 1;
  set(now_);
  for (int i = 0; i < 4; ++i) clock();
  top_->reset = 0;
  settle(); // the sweep after reset
}

void Module::set(std::uint64_t now) {
  if (now < now_) throw Failure("time runs backwards");
  now_ = now;
  top_->now_ns = now % wrap;
  top_->eval(); // idle follows at once
}

void Module::clock() {
  auto &pins = *top_;
  pins.clk = 0;
  pins.eval();
  if (pins.grants_valid && !pins.reset) {
    const std::uint64_t shown =
        std::uint64_t{pins.grants_payload_launch_ns} << 16 | pins.grants_payload_launch_fraction;
    const Instant base = Instant{now_} << 16;
    const auto ahead = static_cast<std::int64_t>(shown - static_cast<std::uint64_t>(base));
    grants.push_back({pins.grants_payload_reference_flow, (base + static_cast<Instant>(ahead)) << 16, clocks_});
  }
  pins.clk = 1;
  pins.eval();
  ++clocks_;
}

void Module::settle() {
  // Inputs of the last clock show in the module by this clock.
  for (const std::uint64_t end = clocks_ + timeLimit; top_->idle == 0 || top_->grants_valid; clock())
    if (clocks_ > end) throw Failure("the module does not come to rest");
}

void Module::book(const Booking &booking) {
  auto &pins = *top_;
  pins.bookings_valid = 1;
  pins.bookings_payload_reference_flow = booking.flow;
  pins.bookings_payload_first = booking.first;
  pins.bookings_payload_paced = booking.spacing != 0;
  pins.bookings_payload_interval = booking.spacing;
  pins.bookings_payload_perByte = 1;
  pins.bookings_payload_previousLength = booking.previousLength;
  clock();
  pins.bookings_valid = 0;
  pins.eval();
}

std::uint64_t Module::next() const {
  if (!top_->next_armed) throw Failure("the module wants nothing, but a segment waits");
  const std::uint64_t ahead = (top_->next_at_ns - now_) % wrap;
  return ahead < wrap / 2 ? now_ + ahead : now_;
}

Instant Schedule::book(const Booking &booking, std::uint64_t now) {
  booked_ = instant(now);
  if (!booking.first) booked_ = std::max(booked_, before_ + Instant{booking.spacing} * booking.previousLength);
  return booked_;
}

} // namespace pacing
