// SPDX-License-Identifier: BSD-2-Clause-Patent
// One connection without end over a dumbbell of ns-3; one JSON object on stdout: its window, and what arrived, in time.
#include <cstdio>
#include <ranges>
#include <sstream>
#include <vector>

#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/simulator.h>
#include <ns3/string.h>

#include "cross_traffic.h"
#include "sender.h"

using namespace ns3;

namespace {

constexpr std::uint64_t socketBuffer = 64 << 20; // of ns-3's ends: they never limit

struct Sample {
  double seconds, cwnd; // s; bytes
  std::uint64_t received, queue, drops;
};

/// Samples eight times in a round trip, at most two thousand times a second.
class Watch {
public:
  Watch(const Plan &plan, Dumbbell &path, const BulkSender &sender)
      : path_(path), sender_(sender), interval_(NanoSeconds(std::max<std::int64_t>(plan.path.rtt / 8, 500'000))) {
    path.sink()->TraceConnectWithoutContext(
        "Rx", Callback<void, Ptr<const Packet>, const Address &>(
                  [this](Ptr<const Packet> packet, const Address &) { received_ += packet->GetSize(); }));
  }

  void sample() {
    if (!sender_.failure().empty()) return Simulator::Stop();
    samples_.push_back(
        {Simulator::Now().GetSeconds(), sender_.cwnd(), received_, path_.queueBytes(), path_.queueDrops});
    Simulator::Schedule(interval_, &Watch::sample, this);
  }

  void print() const {
    const auto list = [this](const char *name, auto value) {
      std::printf(",\n\"%s\": [", name);
      const char *separator = "";
      for (const Sample &sample : samples_)
        std::printf("%s%.9g", std::exchange(separator, ","), static_cast<double>(value(sample)));
      std::printf("]");
    };
    list("seconds", [](const Sample &s) { return s.seconds; });
    list("cwnd", [](const Sample &s) { return s.cwnd; });
    list("received", [](const Sample &s) { return s.received; });
    list("queue", [](const Sample &s) { return s.queue; });
    list("drops", [](const Sample &s) { return s.drops; });
  }

private:
  Dumbbell &path_;
  const BulkSender &sender_;
  Time interval_;
  std::uint64_t received_ = 0;
  std::vector<Sample> samples_;
};

/// SECONDS:UDP-RATE:LOW:HIGH, with commas between them.
std::vector<Step> parseSteps(const std::string &text) {
  std::vector<Step> steps;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    Step step{};
    char colon;
    std::istringstream(word) >> step.seconds >> colon >> step.udpRate >> colon >> step.argumentLow >> colon >>
        step.argumentHigh;
    steps.push_back(step);
  }
  return steps;
}

Plan parse(int count, char **arguments) {
  Plan plan;
  std::string steps = "0:0:0:0";
  CommandLine line(__FILE__);
  line.AddValue("sender", "core, reno, highspeed or scalable", plan.sender);
  line.AddValue("rate", "bottleneck, b/s", plan.path.rate);
  line.AddValue("link-rate", "access links, b/s", plan.path.linkRate);
  line.AddValue("rtt", "base round-trip time, ns", plan.path.rtt);
  line.AddValue("buffer", "bottleneck buffer, bytes; 0: one bandwidth-delay product", plan.path.buffer);
  line.AddValue("initial-window", "segments; also the initial ssthresh of the core", plan.path.initialWindow);
  line.AddValue("seed", "of the core's secret and of packet sizes", plan.path.seed);
  line.AddValue("steady", "the core's steady policy", plan.steady);
  line.AddValue(
      "steps",
      "SECONDS:UDP:LOW:HIGH,...: b/s of UDP beside the connection, and what the policy is told, low 64 bits and above",
      steps);
  line.AddValue("events", "CSV file of the core's events to write", plan.events);
  line.AddValue("duration", "virtual seconds", plan.duration);
  line.Parse(count, arguments);
  plan.steps = parseSteps(steps);
  const bool core = plan.sender == "core";
  plan.path.ssthresh = core ? std::uint64_t{plan.path.initialWindow} * plan.path.segmentSize : 1 << 30;
  return plan;
}

void configure(const Plan &plan) {
  const auto set = [](const char *name, const std::string &value) { Config::SetDefault(name, StringValue(value)); };
  set("ns3::TcpSocket::RcvBufSize", std::to_string(socketBuffer));
  set("ns3::TcpSocket::SndBufSize", std::to_string(socketBuffer));
  if (plan.sender == "highspeed") set("ns3::TcpL4Protocol::SocketType", "ns3::TcpHighSpeed");
  if (plan.sender == "scalable") set("ns3::TcpL4Protocol::SocketType", "ns3::TcpScalable");
  if (plan.sender != "core") set("ns3::TcpSocketBase::Sack", "true");
}

} // namespace

int main(int count, char **arguments) {
  const Plan plan = parse(count, arguments);
  {
    Dumbbell path(plan.path);
    configure(plan);
    const auto sender = plan.sender == "core" ? coreSender(plan, path) : ns3Sender(plan, path);
    CrossTraffic cross(path);
    cross.rate(plan.steps.front().udpRate);
    for (const Step &step : plan.steps | std::views::drop(1))
      Simulator::Schedule(Seconds(step.seconds), [&cross, &sender, &step] {
        cross.rate(step.udpRate);
        sender->tell(step);
      });
    Watch watch(plan, path, *sender);
    sender->start();
    watch.sample();
    Simulator::Stop(Seconds(plan.duration));
    if (sender->failure().empty()) Simulator::Run();
    std::printf(
        "{\"failure\": \"%s\", \"established\": %.9f, \"smallest_rtt_ns\": %llu, \"segments\": %llu, "
        "\"retransmissions\": %llu,\n"
        "\"calculations\": %llu, \"queue_drops\": %llu",
        sender->failure().c_str(), static_cast<double>(sender->established()) / 1e9,
        static_cast<unsigned long long>(sender->smallestRtt()), static_cast<unsigned long long>(sender->segments()),
        static_cast<unsigned long long>(sender->retransmissions()),
        static_cast<unsigned long long>(sender->calculations()), static_cast<unsigned long long>(path.queueDrops));
    watch.print();
    std::printf("}\n");
  }
  Simulator::Destroy();
}
