// SPDX-License-Identifier: BSD-2-Clause-Patent
// gap_bench CASE --name=value...: runs one case and prints what it showed, one JSON object; the status says only
// whether it ran. For all cases: --seed, --increment-ppm (our clock's error, which the increment makes up for),
// --receive-ppm (the far end's clock).
#include <cstdio>

#include "cases.h"

namespace {

using Case = void (*)(const gap::Options &, gap::Bench &, gap::Object &);
const std::map<std::string, Case> cases{{"schedule", gap::schedule}, {"conflict", gap::conflict}, {"pairs", gap::pairs},
                                        {"trains", gap::trains},     {"paced", gap::paced},       {"pacer", gap::pacer},
                                        {"launch", gap::launch},     {"receive", gap::receive}};

} // namespace

int main(int count, char **arguments) try {
  const auto chosen = count > 1 ? cases.find(arguments[1]) : cases.end();
  if (chosen == cases.end()) {
    std::fprintf(stderr, "usage: %s schedule|conflict|pairs|trains|paced|pacer|launch|receive --name=value...\n",
                 arguments[0]);
    return 2;
  }
  const gap::Options options(count - 2, arguments + 2);
  const double increment = 8 * (1 + options.number("increment-ppm", 0) * 1e-6) * 0x1p32;
  gap::Bench bench(
      {.increment = static_cast<std::uint64_t>(increment), .receivePpm = options.number("receive-ppm", 0)});
  const gap::Time begin = bench.now();
  gap::Object result;
  chosen->second(options, bench, result);
  // The bench counts clocks; that this is what the time base did shows here.
  result.add("frames", bench.frames())
      .add("wrong_frames", bench.wrong())
      .add("clock_right", bench.dut().timeBase() == bench.now());
  result.add("byte_time_ns", gap::inNanoseconds(bench.byteTime()))
      .add("virtual_seconds", gap::inNanoseconds(bench.now() - begin) * 1e-9);
  result.add("simulated_clocks", bench.dut().simulatedClocks());
  std::printf("%s\n", result.json().c_str());
} catch (const std::exception &error) {
  std::fprintf(stderr, "gap_bench: %s\n", error.what());
  return 2;
}
