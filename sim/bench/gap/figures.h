// SPDX-License-Identifier: BSD-2-Clause-Patent
// Figures of a case, as one JSON object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench.h"

namespace gap {

/// Values in ns: percentiles and a histogram.
class Spread {
public:
  void add(double ns) { values_.push_back(ns); }
  std::size_t size() const { return values_.size(); }
  double largest() const;
  /// The largest without its sign.
  double worst() const;
  /// {"count", "min", "p1", "p50", "p99", "p99_9", "max", "histogram": {"first", "width", "counts"}}; null if there is
  /// no value.
  std::string json() const;

private:
  std::vector<double> values_;
};

class Object {
public:
  Object &add(const std::string &name, const std::string &json);
  Object &add(const std::string &name, std::uint64_t value) { return add(name, std::to_string(value)); }
  Object &add(const std::string &name, double value);
  Object &add(const std::string &name, bool value) { return add(name, std::string(value ? "true" : "false")); }
  std::string json() const { return "{" + fields_ + "}"; }

private:
  std::string fields_;
};

std::string number(double value);

/// Departures against their launch times; stamps against the pins.
class Departures {
public:
  void add(const Fate &fate);
  /// With what the MAC itself counted.
  void report(Object &object, const Vgap &pins) const;

private:
  std::uint64_t early_ = 0, late_ = 0, unexpected_ = 0, wrongStamps_ = 0;
  unsigned maxAhead_ = 0;
  Spread error_, lateness_, receiveStamps_;
};

} // namespace gap
