// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "flows.h"

#include <algorithm>
#include <cmath>

#include "draw.h"

namespace gap {

Flows::Flows(Bench &bench, std::size_t count, double rate, std::uint32_t payload, std::uint64_t segmentsEach)
    : bench_(bench), rate_(rate), payload_(payload), spacing_(static_cast<std::uint64_t>(std::llroundl(8e9L / rate * 0x1p32L))),
      segmentsEach_(segmentsEach), flows_(count) {}

void Flows::begin(std::uint32_t flow) { bench_.room().book({flow, true, spacing_, 0}); }

void Flows::granted(std::uint32_t number, Stamp launch) {
  Flow &flow = flows_[number];
  flow.departure = flow.segments == 0 ? timeOf(launch) : flow.departure + Time{spacing_} * payload_;
  inexact_ += launch != stampAfter(flow.departure);
  outOfOrder_ += launch < newest_;
  newest_ = launch;
  ++grants_;
  if (++flow.segments < segmentsEach_) bench_.room().book({number, false, spacing_, payload_});
}

void Flows::left(std::uint32_t number, Time sfd) {
  Flow &flow = flows_[number];
  if (flow.departed++ == 0) flow.first = sfd;
  flow.last = sfd;
}

Flows::Rate Flows::rate() const {
  Rate rate{0, HUGE_VAL};
  for (const Flow &flow : flows_) {
    const long double asked = static_cast<long double>(flow.departed - 1) * 8 * payload_ / rate_, took = static_cast<long double>(flow.last - flow.first) * 0x1p-32L * 1e-9L;
    rate.error = std::max(rate.error, static_cast<double>(std::abs(took / asked - 1)));
    rate.seconds = std::min(rate.seconds, static_cast<double>(took));
  }
  return rate;
}

} // namespace gap
