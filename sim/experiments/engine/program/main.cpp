// SPDX-License-Identifier: BSD-2-Clause-Patent
// Runs of an experiment: plans on stdin, the result of each on stdout, a JSON object a line. Plans that are alike until
// their warm-up ends share it: each goes on from there in a process of its own.
#include <cstdlib>
#include <iostream>

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ns3/config.h>
#include <ns3/global-value.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>

#include "run.h"

using namespace ns3;

namespace {

/// Sets ns-3's defaults for all runs; `plan` is the first.
void setDefaults(const Plan &plan) {
  Time::SetResolution(Time::PS); // 6.4 ns of a byte at 10 Gb/s must not become 6
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(plan.seed);
  // Without it IP and TCP checksums are zero, and the core drops such frames as it must.
  GlobalValue::Bind("ChecksumEnabled", StringValue("true"));
  for (const auto &[name, value] : plan.defaults) Config::SetDefault(name, StringValue(value));
}

void print(const Run &run) {
  Json json(std::cout);
  json.open('{');
  run.print(json);
  json.close('}');
  std::cout << "\n";
}

void printCost(const CoreCost &now, const CoreCost &before = {}) {
  std::cerr << "core_seconds=" << now.seconds - before.seconds << " core_segments=" << now.segments - before.segments
            << " core_clocks=" << now.clocks - before.clocks << "\n";
}

void carryOut(Run &run, const Plan &plan, const CoreCost &before) {
  run.go(plan);
  print(run);
  printCost(run.cost(), before);
}

/// In a child, while this process waits; if the child fails, this process ends as it did.
void carryOutInChild(Run &run, const Plan &plan, const CoreCost &before) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    carryOut(run, plan, before);
    std::cout.flush();
    _exit(0); // without destructors: the models' threads are not in this process
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("fork");
    std::exit(1);
  }
  if (WIFSIGNALED(status)) std::raise(WTERMSIG(status));
  if (status != 0) std::exit(1);
}

} // namespace

int main() {
  std::vector<Plan> plans;
  try {
    plans = Plan::read(std::cin);
  } catch (const std::exception &error) {
    std::cerr << "the plan: " << error.what() << "\n";
    return 2;
  }
  setDefaults(plans.front());
  {
    Run run(plans.front());
    run.warmUp();
    const CoreCost shared = run.cost();
    printCost(shared);
    if (plans.size() == 1)
      carryOut(run, plans.front(), shared);
    else
      for (const Plan &plan : plans) carryOutInChild(run, plan, shared);
  }
  Simulator::Destroy();
}
