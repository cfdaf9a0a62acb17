// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "lib/packets/draw.h"
#include "module.h"

namespace pacing {

namespace {

constexpr std::uint64_t longestSegment = 16383; // bytes; 14 bits
constexpr std::uint64_t highestSpacing = (std::uint64_t{1} << 56) - 1;
constexpr double unit = 0x1p-32; // ns

/// The nearest spacing to a rate: ns per byte, 32 fraction bits.
std::uint64_t spacingOf(std::uint64_t rate) {
  return static_cast<std::uint64_t>((instant(8'000'000'000) + rate / 2) / rate);
}

/// A flow of the dut, whose every launch is compared with the exact schedule.
class Flow {
public:
  Flow(Module &dut, std::uint32_t flow) : dut_(dut), flow_(flow) { begun_ = send(true, 1, 0); }

  /// Books the next segment and lets time go to its grant; returns its launch.
  Instant send(bool first, std::uint64_t spacing, std::uint16_t previousLength) {
    book(first, spacing, previousLength);
    return depart();
  }
  /// A booking that is not granted yet gives way to the next one.
  void book(bool first, std::uint64_t spacing, std::uint16_t previousLength) {
    const Booking booking{flow_, first, spacing, previousLength};
    schedule_.book(booking, dut_.now());
    dut_.book(booking);
  }
  Instant depart() {
    dut_.settle();
    if (dut_.grants.empty()) {
      if (dut_.next() != nanoseconds(schedule_.booked())) throw Failure("the grant is expected at another time");
      dut_.set(dut_.next());
      dut_.settle();
    }
    if (dut_.grants.size() != 1 || dut_.grants[0].flow != flow_) throw Failure("not one grant of this flow");
    const Instant launch = dut_.grants[0].launch;
    if (launch != schedule_.launch()) throw Failure("a launch differs from the exact schedule");
    dut_.grants.clear();
    schedule_.granted();
    return launch;
  }
  Instant begun() const { return begun_; }

private:
  Module &dut_;
  std::uint32_t flow_;
  Schedule schedule_;
  Instant begun_;
};

} // namespace

std::string rate(std::uint64_t seed, std::uint64_t rate, std::uint64_t milliseconds) {
  fuzz::Draw draw(seed);
  Module dut;
  Flow flow(dut, 5);
  const std::uint64_t spacing = spacingOf(rate), duration = milliseconds * 1'000'000;
  // At the highest rates long segments, or it would take hours; at the lowest at least this many.
  constexpr std::uint64_t fewest = 100, fast = 5'000'000'000;
  const std::uint64_t shortest = rate > fast ? longestSegment / 2 : 64, longest = rate > fast ? longestSegment : 1460;
  Instant last = flow.begun();
  std::uint64_t octets = 0, segments = 0;
  while (nanoseconds(last - flow.begun()) < duration || segments < fewest) {
    const auto length = static_cast<std::uint16_t>(draw.between(shortest, longest));
    last = flow.send(false, spacing, length);
    octets += length;
    ++segments;
  }
  // time * rate = 8 bits * octets * 10^9, in units of 2^-16 ns: exact integers, and one division at the end.
  const Instant taken = ((last - flow.begun()) >> 16) * rate, wanted = (Instant{octets} * 8'000'000'000) << 16;
  const double error = static_cast<double>(static_cast<__int128_t>(taken - wanted)) / static_cast<double>(wanted);
  const Instant scheduled = Instant{octets} * spacing;
  const double ofPacer = static_cast<double>(static_cast<__int128_t>((last - flow.begun()) - scheduled)) * unit;
  std::ostringstream text;
  text << "\"rate\": " << rate << ", \"segments\": " << segments
       << ", \"seconds\": " << static_cast<double>(last - flow.begun()) * unit / 1e9 << ", \"spacing\": " << spacing
       << ", \"rate_error\": " << error << ", \"pacer_error_ns\": " << ofPacer << ", \"clocks\": " << dut.clocks();
  return text.str();
}

std::string changes(std::uint64_t seed, std::uint64_t segments) {
  fuzz::Draw draw(seed);
  Module dut;
  std::array<Flow, 2> flows{Flow(dut, 3), Flow(dut, 12)};
  std::array<Instant, 2> last{flows[0].begun(), flows[1].begun()};
  std::uint64_t replaced = 0;
  for (std::uint64_t i = 0; i < segments; ++i) {
    // From some hundred Gb/s to less than 1 kb/s, evenly over the magnitudes.
    const auto drawn = [&] { return 1 + (draw.next() >> draw.between(8, 36)); };
    const auto length = static_cast<std::uint16_t>(draw.between(1, longestSegment));
    const std::size_t whose = draw.below(flows.size());
    std::uint64_t spacing = drawn();
    // The other flow has let time pass: a departure that is past by then is not made up for.
    const Instant floor = instant(dut.now() + Module::lead);
    for (; draw.chance(30); spacing = drawn(), ++replaced) {
      if (last[whose] + Instant{spacing} * length <= floor + instant(1)) continue; // it would be granted
      flows[whose].book(false, spacing, length);
    }
    const Instant launch = flows[whose].send(false, spacing, length);
    // The new rate holds from the last departure on: not a byte's time more, nor less.
    const Instant wanted = std::max(last[whose] + Instant{spacing} * length, floor);
    if (launch + (1 << 16) < wanted || launch > wanted + (1 << 16))
      throw Failure("a change of rate makes a gap or a burst");
    last[whose] = launch;
  }
  std::ostringstream text;
  text << "\"segments\": " << segments << ", \"replaced\": " << replaced
       << ", \"virtual_seconds\": " << (dut.now() - Module::begin) / 1e9;
  return text.str();
}

std::string flight(std::uint64_t segments, std::uint64_t duration, std::uint64_t length) {
  const Instant octets = Instant{segments} * length;
  const Instant spacing = (instant(duration) + octets - 1) / octets; // rounded up: never ahead of the flight
  if (spacing == 0 || spacing > highestSpacing) throw Failure("no spacing for this flight");
  Module dut;
  Flow flow(dut, 9);
  // A unit of spacing for each byte, and the launch's rounding.
  const double bound = static_cast<double>(octets) * unit + 0x1p-16;
  double worst = 0;
  std::uint64_t otherTicks = 0;
  for (std::uint64_t i = 1; i < segments; ++i) {
    const Instant launch =
        flow.send(false, static_cast<std::uint64_t>(spacing), static_cast<std::uint16_t>(length)) - flow.begun();
    // i * duration / segments in 2^-32 ns; the division's remainder is less than one of them.
    const Instant wanted = Instant{i} * instant(duration) / segments;
    const double error = std::abs(static_cast<double>(static_cast<__int128_t>(launch - wanted))) * unit;
    worst = std::max(worst, error);
    otherTicks += nanoseconds(launch) != i * duration / segments;
    if (launch < wanted || error > bound + unit || error >= 1)
      throw Failure("segment " + std::to_string(i) + " is " + std::to_string(error) + " ns off");
  }
  std::ostringstream text;
  text << "\"segments\": " << segments << ", \"duration_ns\": " << duration << ", \"length\": " << length
       << ", \"worst_error_ns\": " << worst << ", \"bound_ns\": " << bound << ", \"other_ticks\": " << otherTicks;
  return text.str();
}

} // namespace pacing
