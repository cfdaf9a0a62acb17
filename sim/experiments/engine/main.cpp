// SPDX-License-Identifier: BSD-2-Clause-Patent
// One run of an experiment: a plan on stdin, one JSON object on stdout.
#include <iostream>

#include <ns3/config.h>
#include <ns3/global-value.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>

#include "run.h"

using namespace ns3;

int main() {
  Plan plan;
  try {
    plan = Plan::read(std::cin);
  } catch (const std::exception &error) {
    std::cerr << "the plan: " << error.what() << "\n";
    return 2;
  }
  Time::SetResolution(Time::PS); // 6.4 ns of a byte at 10 Gb/s must not become 6
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(plan.seed);
  // Without it IP and TCP checksums are zero, and the core drops such frames as it must.
  GlobalValue::Bind("ChecksumEnabled", StringValue("true"));
  for (const auto &[name, value] : plan.defaults) Config::SetDefault(name, StringValue(value));
  {
    Run run(plan);
    run.go();
    Json json(std::cout);
    json.open('{');
    run.print(json);
    json.close('}');
    std::cout << "\n";
    std::cerr << "core_seconds=" << run.coreWallSeconds() << " core_segments=" << run.coreSegments()
              << " core_clocks=" << run.coreClocks() << "\n";
  }
  Simulator::Destroy();
}
