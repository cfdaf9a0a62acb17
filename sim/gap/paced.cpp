// SPDX-License-Identifier: BSD-2-Clause-Patent
// Flows under the pacer: their frames at the pins, or its grants alone.
#include <algorithm>

#include "cases.h"
#include "draw.h"
#include "flows.h"

namespace gap {

namespace {

struct Paced {
  std::size_t flows, length;
  double rate;
  std::uint64_t segments; // of each flow: so many that first and last are --seconds apart

  explicit Paced(const Options &options) : flows(options.count("flows")), length(options.count("length") - 4), rate(options.number("rate")) {
    segments = 2 + static_cast<std::uint64_t>(options.number("seconds") * rate / (8.0 * static_cast<double>(payload())));
  }
  std::uint32_t payload() const { return static_cast<std::uint32_t>(length - headers); }
  Time period() const { return static_cast<Time>(8e9 * payload() / rate * 0x1p32); }
};

/// Starts all flows within a period: apart, each so long after another that they never meet; or at any time.
void begin(const Options &options, const Paced &paced, Bench &bench, Flows &flows) {
  Draw draw(options.count("seed"), "mixed");
  std::vector<Time> starts(paced.flows);
  const bool apart = options.text("phases") == "apart";
  for (std::size_t i = 0; i < starts.size(); ++i)
    starts[i] = apart ? paced.period() * static_cast<Time>(i) / static_cast<Time>(paced.flows) : paced.period() * static_cast<Time>(draw.below(1 << 24)) >> 24;
  std::ranges::sort(starts);
  const Time origin = bench.now();
  for (std::uint32_t flow = 0; flow < paced.flows; ++flow) {
    bench.run(origin + starts[flow]);
    flows.begin(flow);
  }
}

void report(const Flows &flows, Object &result) {
  const Flows::Rate rate = flows.rate();
  result.add("grants", flows.grants()).add("inexact_grants", flows.inexact()).add("grants_out_of_order", flows.outOfOrder());
  result.add("rate_error", rate.error).add("rate_seconds", rate.seconds);
}

} // namespace

void paced(const Options &options, Bench &bench, Object &result) {
  const Paced paced(options);
  Flows flows(bench, paced.flows, paced.rate, paced.payload(), paced.segments);
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
  begin(options, paced, bench, flows);
  while (!flows.done()) bench.run(bench.now() + paced.period());
  result.add("all_back", bench.finish());
  departures.report(result, bench.room().pins());
  report(flows, result);
}

void pacer(const Options &options, Bench &bench, Object &result) {
  const Paced paced(options);
  Flows flows(bench, paced.flows, paced.rate, paced.payload(), paced.segments);
  bench.onGrant = [&](std::uint32_t flow, Stamp launch) {
    flows.granted(flow, launch);
    flows.left(flow, timeOf(launch));
  };
  begin(options, paced, bench, flows);
  while (!flows.done()) bench.run(bench.now() + paced.period());
  report(flows, result);
}

} // namespace gap
