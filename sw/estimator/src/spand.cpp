/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "spand.h"

namespace downbeat::estimator {

void SpandReports::add(const SpandSums &sums) {
  SpandSums &place = ticks_[sums.tick % keptTicks];
  if (place.reports == 0 || place.tick < sums.tick) place = {.tick = sums.tick};
  if (place.tick != sums.tick || place.reports + sums.reports > maxReports) return;
  place.reports += sums.reports;
  place.windows += sums.windows;
  place.roundTrips += sums.roundTrips;
  place.segments += sums.segments;
  place.acks += sums.acks;
}

SpandSums SpandReports::all(uint64_t now) const {
  SpandSums found{.tick = tick(now)};
  for (const SpandSums &each : ticks_) {
    if (each.reports == 0 || found.tick - each.tick >= keptTicks) continue;
    found.reports += each.reports;
    found.windows += each.windows;
    found.roundTrips += each.roundTrips;
    found.segments += each.segments;
    found.acks += each.acks;
  }
  return found;
}

} // namespace downbeat::estimator
