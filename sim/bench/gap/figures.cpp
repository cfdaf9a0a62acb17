// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gap {

double Spread::largest() const { return values_.empty() ? 0 : *std::ranges::max_element(values_); }

double Spread::worst() const {
  double worst = 0;
  for (const double value : values_) worst = std::max(worst, std::abs(value));
  return worst;
}

std::string Spread::json() const {
  if (values_.empty()) return "null";
  std::vector<double> sorted = values_;
  std::ranges::sort(sorted);
  const auto last = static_cast<double>(sorted.size() - 1);
  const auto at = [&](double share) { return sorted[static_cast<std::size_t>(std::ceil(share * last))]; };
  constexpr std::size_t bins = 64;
  const double first = sorted.front(), width = std::max((sorted.back() - first) / bins, 1e-6);
  std::vector<std::uint64_t> counts(bins);
  for (const double value : sorted) ++counts[std::min(static_cast<std::size_t>((value - first) / width), bins - 1)];
  std::string list;
  for (const std::uint64_t count : counts) list += (list.empty() ? "" : ", ") + std::to_string(count);
  Object object, histogram;
  histogram.add("first", first).add("width", width).add("counts", "[" + list + "]");
  object.add("count", std::uint64_t{sorted.size()})
      .add("min", sorted.front())
      .add("p1", at(0.01))
      .add("p50", at(0.5))
      .add("p99", at(0.99));
  return object.add("p99_9", at(0.999)).add("max", sorted.back()).add("histogram", histogram.json()).json();
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

Object &Object::add(const std::string &name, const std::string &json) {
  fields_ += (fields_.empty() ? "\"" : ", \"") + name + "\": " + json;
  return *this;
}

Object &Object::add(const std::string &name, double value) { return add(name, number(value)); }

void Departures::add(const Fate &fate) {
  unexpected_ += fate.sfd != fate.expected;
  wrongStamps_ += fate.departure != static_cast<Stamp>(fate.sfd >> 16); // a stamp has 16 fraction bits
  receiveStamps_.add(inNanoseconds(timeOf(fate.received) - fate.returned));
  if (fate.launch.mode == LaunchMode::afterPrevious) return;
  const Time error = fate.sfd - timeOf(fate.launch.launch);
  early_ += error < 0;
  if (fate.sfd > fate.due) {
    ++late_;
    lateness_.add(inNanoseconds(fate.sfd - fate.due));
    maxAhead_ = std::max(maxAhead_, fate.ahead);
  } else
    error_.add(inNanoseconds(error));
}

void Departures::report(Object &object, const Vgap &pins) const {
  Object cause;
  cause.add("arrived", std::uint64_t{pins.counters_transmit_lateArrived});
  cause.add("inverted", std::uint64_t{pins.counters_transmit_lateInverted});
  cause.add("busy", std::uint64_t{pins.counters_transmit_lateBusy});
  object.add("early", early_).add("late", late_).add("late_by_cause", cause.json()).add("unexpected", unexpected_);
  object.add("max_error_ns", error_.largest()).add("max_lateness_ns", lateness_.largest());
  object.add("most_frames_ahead", std::uint64_t{maxAhead_});
  object.add("wrong_departure_stamps", wrongStamps_).add("max_receive_stamp_error_ns", receiveStamps_.worst());
  object.add("error_ns", error_.json())
      .add("lateness_ns", lateness_.json())
      .add("receive_stamp_error_ns", receiveStamps_.json());
}

} // namespace gap
