// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch times of single frames: with space for each, and in conflict.
#include "cases.h"
#include "draw.h"

namespace gap {

namespace {

constexpr Time start = nanoseconds(10'000); // from now to the first launch

} // namespace

void schedule(const Options &options, Bench &bench, Object &result) {
  Draw draw(options.count("seed"), options.text("length"));
  Departures departures;
  bench.onFate = [&](const Fate &fate) { departures.add(fate); };
  Time next = bench.now() + start;
  for (std::uint64_t id = 0; id < options.count("frames"); ++id) {
    const Launch launch{id, draw.length(), LaunchMode::at,
                        stampAfter(next + timeOf(draw.spare(options.number("spare"))))};
    bench.runToHandIn(launch.launch);
    bench.handIn(launch);
    next = timeOf(launch.launch) + byteTimes(launch.length) * bench.byteTime();
  }
  result.add("all_back", bench.finish());
  departures.report(result, bench.dut().pins());
}

void conflict(const Options &options, Bench &bench, Object &result) {
  Draw draw(options.count("seed"), options.text("length"));
  const std::uint64_t frames = options.count("frames"), max = options.count("burst");
  Departures departures;
  bench.onFate = [&](const Fate &fate) { departures.add(fate); };
  Time next = bench.now() + start;
  for (std::uint64_t id = 0; id < frames;) {
    // They want the same instant or one soon after, in order; the wire has come to rest when the next burst begins.
    Time wanted = next;
    const std::uint64_t size = 2 + draw.below(max - 1);
    for (std::uint64_t i = 0; i < size; ++i, ++id) {
      if (draw.below(2)) wanted += timeOf(draw.spare(500));
      const Launch launch{id, draw.length(), LaunchMode::at, stampAfter(wanted)};
      if (i == 0) bench.runToHandIn(launch.launch);
      bench.handIn(launch);
      next += byteTimes(launch.length) * bench.byteTime();
    }
    next += nanoseconds(12'000) + timeOf(draw.spare(2000));
  }
  result.add("all_back", bench.finish());
  departures.report(result, bench.dut().pins());
}

} // namespace gap
