// SPDX-License-Identifier: BSD-2-Clause-Patent
// Flows under the pacer: their frames at the pins, or its grants alone.
#include <algorithm>

#include "cases.h"
#include "draw.h"
#include "flows.h"

namespace gap {

namespace {

struct Paced {
  std::size_t length; // without FCS
  std::vector<double> rates;
  std::vector<Time> starts; // from the first flow's on

  explicit Paced(const Options &options)
      : length(options.count("length") - 4), rates(options.count("flows"), options.number("rate")) {
    Draw draw(options.count("seed"), "mixed");
    const bool apart = options.text("phases") == "apart";
    const std::size_t flows = rates.size();
    // Apart: all at one rate, and each so long after another that they never meet. Otherwise each at a rate and a time
    // of its own.
    if (!apart)
      for (double &rate : rates) rate *= 0.5 + draw.share();
    for (std::size_t i = 0; i < flows; ++i) {
      const double share = apart ? static_cast<double>(i) / static_cast<double>(flows) : draw.share();
      starts.push_back(static_cast<Time>(period() * share));
    }
    std::ranges::sort(starts);
  }
  std::uint32_t payload() const { return static_cast<std::uint32_t>(length - headers); }
  /// From one segment of the slowest flow to its next, 2^-32 ns.
  double period() const { return 8e9 * payload() / *std::ranges::min_element(rates) * 0x1p32; }
};

void run(const Paced &paced, Bench &bench, Flows &flows) {
  const Time origin = bench.now();
  for (std::uint32_t flow = 0; flow < paced.starts.size(); ++flow) {
    bench.run(origin + paced.starts[flow]);
    flows.begin(flow);
  }
  while (!flows.done()) bench.run(bench.now() + static_cast<Time>(paced.period()));
}

void report(const Flows &flows, Object &result) {
  const Flows::Rate rate = flows.rate();
  result.add("grants", flows.grants()).add("inexact_grants", flows.inexact());
  result.add("grants_out_of_order", flows.steady().grants)
      .add("max_steady_disorder_ns", inNanoseconds(flows.steady().max));
  result.add("starts_out_of_order", flows.starts().grants)
      .add("max_start_disorder_ns", inNanoseconds(flows.starts().max));
  result.add("rate_error", rate.error).add("rate_seconds", rate.seconds);
}

} // namespace

void paced(const Options &options, Bench &bench, Object &result) {
  const Paced paced(options);
  Flows flows(bench, paced.rates, paced.payload(), options.number("seconds"));
  Departures departures;
  constexpr unsigned flowShift = 32;
  std::uint64_t number = 0;
  bench.onGrant = [&](std::uint32_t flow, Stamp launch) {
    bench.handIn({std::uint64_t{flow} << flowShift | number++, paced.length, LaunchMode::at, launch});
    flows.granted(flow, launch);
  };
  bench.onFate = [&](const Fate &fate) {
    departures.add(fate);
    flows.left(static_cast<std::uint32_t>(fate.launch.id >> flowShift), fate.sfd);
  };
  run(paced, bench, flows);
  result.add("all_back", bench.finish());
  departures.report(result, bench.dut().pins());
  report(flows, result);
}

void pacer(const Options &options, Bench &bench, Object &result) {
  const Paced paced(options);
  Flows flows(bench, paced.rates, paced.payload(), options.number("seconds"));
  bench.onGrant = [&](std::uint32_t flow, Stamp launch) {
    flows.granted(flow, launch);
    flows.left(flow, timeOf(launch));
  };
  run(paced, bench, flows);
  report(flows, result);
}

} // namespace gap
