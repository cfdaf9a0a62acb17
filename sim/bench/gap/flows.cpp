// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "flows.h"

#include <algorithm>
#include <cmath>

#include "draw.h"

namespace gap {

Flows::Flows(Bench &bench, const std::vector<double> &rates, std::uint32_t payload, double seconds)
    : bench_(bench), payload_(payload) {
  for (const double rate : rates) {
    const auto spacing = static_cast<std::uint64_t>(std::llroundl(8e9L / rate * 0x1p32L));
    const auto intervals = static_cast<std::uint64_t>(std::ceil(seconds * rate / 8 / payload));
    flows_.push_back({.rate = rate, .spacing = spacing, .segments = intervals + 1});
    segments_ += intervals + 1;
  }
}

void Flows::begin(std::uint32_t flow) { bench_.dut().book({flow, true, flows_[flow].spacing, 0}); }

void Flows::granted(std::uint32_t number, Stamp launch) {
  Flow &flow = flows_[number];
  flow.departure = flow.granted == 0 ? timeOf(launch) : flow.departure + Time{flow.spacing} * payload_;
  inexact_ += launch != stampAfter(flow.departure);
  Disorder &disorder = flow.granted == 0 ? starts_ : steady_;
  if (launch < newest_) disorder = {disorder.grants + 1, std::max(disorder.max, timeOf(newest_ - launch))};
  newest_ = launch;
  ++grants_;
  if (++flow.granted < flow.segments) bench_.dut().book({number, false, flow.spacing, payload_});
}

void Flows::left(std::uint32_t number, Time sfd) {
  Flow &flow = flows_[number];
  if (flow.departed++ == 0) flow.first = sfd;
  flow.last = sfd;
}

Flows::Rate Flows::rate() const {
  Rate rate{0, HUGE_VAL};
  for (const Flow &flow : flows_) {
    const long double requested = static_cast<long double>(flow.departed - 1) * 8 * payload_ / flow.rate;
    const long double took = static_cast<long double>(flow.last - flow.first) * 0x1p-32L * 1e-9L;
    rate.error = std::max(rate.error, static_cast<double>(std::abs(took / requested - 1)));
    rate.seconds = std::min(rate.seconds, static_cast<double>(took));
  }
  return rate;
}

} // namespace gap
