// SPDX-License-Identifier: BSD-2-Clause-Patent
// latency_bench MEASURE PAYLOAD CONNECTIONS LOAD SAMPLES CORE_PS SEED: one JSON object with all samples, in ns.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "measures.h"

namespace {

using Measure = latency::Result (latency::Bench::*)();
const std::map<std::string, Measure> measures{
    {"receive", &latency::Bench::receive}, {"send", &latency::Bench::send}, {"turn", &latency::Bench::turn}};
const std::map<std::string, latency::Load> loads{
    {"idle", latency::Load::idle}, {"half", latency::Load::half}, {"full", latency::Load::full}};
constexpr double receivePpm =
    50; // the far end's clock: within the 100 ppm of IEEE 802.3 35.4.1, and never in step with ours

} // namespace

int main(int count, char **arguments) try {
  const auto number = [arguments](int index) { return std::strtoull(arguments[index], nullptr, 10); };
  const auto measure = count == 8 ? measures.find(arguments[1]) : measures.end();
  const auto load = count == 8 ? loads.find(arguments[4]) : loads.end();
  if (measure == measures.end() || load == loads.end()) {
    std::fprintf(stderr, "usage: %s receive|send|turn PAYLOAD CONNECTIONS idle|half|full SAMPLES CORE_PS SEED\n",
                 arguments[0]);
    return 2;
  }
  latency::Module dut(number(6) * 1000, receivePpm);
  latency::Bench bench(dut, {number(2), static_cast<unsigned>(number(3)), load->second, number(5), number(7)});
  const latency::Result result = (bench.*measure->second)();
  std::printf("{\"simulated_clocks\": %llu, \"events\": %llu, \"seconds\": %.9g, \"samples_ns\": [",
              static_cast<unsigned long long>(dut.simulatedClocks()), static_cast<unsigned long long>(result.events),
              static_cast<double>(result.end - result.begin) * 1e-15);
  for (const char *before = ""; const latency::Time sample : result.samples) {
    std::printf("%s%.6f", before, static_cast<double>(sample) * 1e-6);
    before = ", ";
  }
  std::printf("]}\n");
} catch (const std::exception &error) {
  std::fprintf(stderr, "latency_bench: %s\n", error.what());
  return 2;
}
