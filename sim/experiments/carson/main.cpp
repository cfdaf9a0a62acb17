// SPDX-License-Identifier: BSD-2-Clause-Patent
// One run on the thesis's dumbbell; one JSON object on stdout.
#include <iostream>
#include <sstream>
#include <utility>

#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>

#include "adversarial/matrix/peer.h"
#include "dumbbell.h"

using namespace ns3;

int main(int count, char **arguments) {
  Plan plan;
  std::string policies = "carson";
  CommandLine line(__FILE__);
  line.AddValue("policies", "steady policy of each sender, with commas", policies);
  line.AddValue("carson-argument", "1: carson_fastdrop", plan.carsonArgument);
  line.AddValue("queue", "packets, of the bottleneck", plan.queue);
  line.AddValue("duration", "virtual seconds", plan.duration);
  line.AddValue("seed", "of the flows' beginnings and the cores' secrets", plan.seed);
  line.Parse(count, arguments);
  std::istringstream words(policies);
  for (std::string word; std::getline(words, word, ',');) plan.policies.push_back(word);

  Time::SetResolution(Time::PS);
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(plan.seed);
  auto settings = Peer::configure();
  // ns-2's one-way TCP: an ACK for each packet, no SACK, no timestamps.
  for (const auto &[name, value] : {std::pair{"ns3::TcpSocket::DelAckCount", "1"},
                                    {"ns3::TcpSocketBase::Sack", "false"},
                                    {"ns3::TcpSocketBase::Timestamp", "false"},
                                    {"ns3::TcpSocket::SegmentSize", "1460"}}) {
    Config::SetDefault(name, StringValue(value));
    settings[name] = value;
  }
  {
    ThesisDumbbell dumbbell(plan);
    dumbbell.run();
    std::cout << "{\"failure\": \"" << dumbbell.failure() << "\", \"drops\": " << dumbbell.drops << ", \"flows\": [";
    const char *separator = "";
    for (const auto &flow : dumbbell.flows()) {
      std::cout << std::exchange(separator, ", ") << "{\"steady\": \"" << flow->steady
                << "\", \"received\": " << flow->received << ", \"seconds\": " << flow->seconds()
                << ", \"window\": " << flow->meanWindow() << ", \"rtt_ns\": " << flow->meanRtt()
                << ", \"segments\": " << flow->segments << ", \"retransmissions\": " << flow->retransmissions
                << ", \"timeouts\": " << flow->timeouts << ", \"intervals\": [";
      const char *comma = "";
      for (const double interval : flow->intervals) std::cout << std::exchange(comma, ",") << interval;
      std::cout << "]}";
    }
    std::cout << "], \"settings\": {";
    separator = "";
    for (const auto &[name, value] : settings)
      std::cout << std::exchange(separator, ", ") << '"' << name << "\": \"" << value << '"';
    std::cout << "}}\n";
  }
  Simulator::Destroy();
}
