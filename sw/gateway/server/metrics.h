// SPDX-License-Identifier: BSD-2-Clause-Patent
// The counters for Prometheus, at http://ADDRESS/metrics, by prometheus-cpp. Its threads only read atomics.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "wire/counters.h"

namespace prometheus {
class Collectable;
class Exposer;
} // namespace prometheus

namespace downbeat::gateway {

class Metrics {
public:
  static std::variant<std::unique_ptr<Metrics>, std::string> open(const std::string &address, const Counters &counters);
  ~Metrics();

private:
  Metrics();

  std::unique_ptr<prometheus::Exposer> exposer_;
  std::shared_ptr<prometheus::Collectable> collectable_;
};

} // namespace downbeat::gateway
