// SPDX-License-Identifier: BSD-2-Clause-Patent
// A core's path reports of one connection as the estimator takes them (docs/reference/path-report.md).
#pragma once

#include <cstdint>

#include "downbeat_types.h"

namespace downbeat {

/// Counts on where the core's counters wrap, and moves times to the estimator's clock.
class PathCounts {
public:
  /// `report` has the core's counters and clock; it came at `now`, ns of the estimator's clock. The loss event lies as
  /// long before `now` as it lies before the report's time, but not before the first report.
  const downbeat_path_report &take(const downbeat_path_report &report, std::uint64_t now);

  /// Whether a report has been taken.
  bool begun() const { return begun_; }
  /// The newest one, by the estimator's counters and clock.
  downbeat_path_report &last() { return last_; }

private:
  downbeat_path_report last_{};
  std::uint64_t first_ = 0; // ns, when the first report came
  bool begun_ = false;
};

} // namespace downbeat
