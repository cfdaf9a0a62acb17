// SPDX-License-Identifier: BSD-2-Clause-Patent
// What each of many busy flows of one core gets; one JSON object on stdout.
#include <iostream>
#include <utility>

#include <ns3/command-line.h>
#include <ns3/simulator.h>

#include "adversarial/matrix/peer.h"
#include "crowd.h"

using namespace ns3;

int main(int count, char **arguments) {
  Crowd::Plan plan;
  CommandLine line(__FILE__);
  line.AddValue("flows", "connections", plan.flows);
  line.AddValue("link-rate", "of the core, b/s", plan.linkRate);
  line.AddValue("rate", "of each path, b/s", plan.rate);
  line.AddValue("rtt", "base round-trip time, ns", plan.rtt);
  line.AddValue("buffer", "of each path, packets", plan.buffer);
  line.AddValue("warm-up", "virtual seconds before counting", plan.warmUp);
  line.AddValue("duration", "virtual seconds of counting", plan.duration);
  line.AddValue("seed", "of the core's secret", plan.seed);
  line.Parse(count, arguments);

  Time::SetResolution(Time::PS); // 6.4 ns of a byte at 10 Gb/s must not become 6
  const auto settings = Peer::configure();
  {
    Crowd crowd(plan);
    crowd.run();
    std::cout << "{\"failure\": \"" << crowd.failure() << "\", \"segments\": " << crowd.segments()
              << ", \"retransmissions\": " << crowd.retransmissions() << ", \"queue_drops\": " << crowd.drops()
              << ", \"bytes\": [";
    const char *separator = "";
    for (const std::uint64_t bytes : crowd.received()) std::cout << std::exchange(separator, ", ") << bytes;
    std::cout << "], \"settings\": {";
    separator = "";
    for (const auto &[name, value] : settings)
      std::cout << std::exchange(separator, ", ") << '"' << name << "\": \"" << value << '"';
    std::cout << "}}\n";
  }
  Simulator::Destroy();
}
