// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run.h"

#include <algorithm>

#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/simulator.h>

#include "ns3_flow.h"
#include "site_estimates.h"

using namespace ns3;

namespace {
const Time lookInterval = MilliSeconds(500); // between two looks at the connections
const Time lookAhead = MilliSeconds(20); // a host that asks its gateway does so when it resolves the name
} // namespace

Run::Run(const Plan &plan) : plan_(plan), network_(plan) {
  if (std::ranges::any_of(plan.flows, [](const FlowPlan &flow) { return flow.observed || !flow.estimate.empty(); }))
    openEstimates();
  for (unsigned i = 0; i < plan.cores.size() && failure_.empty(); ++i) {
    cores_.push_back(std::make_unique<Core>(network_.router(plan.cores[i].at), plan.cores[i], i, estimatesOf(i)));
    failure_ = cores_.back()->open(plan.seed * 256 + i);
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  if (!failure_.empty()) return;
  for (unsigned i = 0; i < plan.flows.size(); ++i)
    addFlow(plan.flows[i], static_cast<std::uint16_t>(Receiver::firstPort + i), i + 1);
  for (unsigned i = 0; i < plan.traffic.size(); ++i)
    traffic_.push_back(std::make_unique<Traffic>(plan.traffic[i], network_, i));
}

void Run::openEstimates() {
  if (plan_.sites.empty()) estimates_.push_back(std::make_unique<OwnEstimates>(plan_.missWeight));
  for (const SitePlan &site : plan_.sites)
    estimates_.push_back(std::make_unique<SiteEstimates>(site, plan_.missWeight));
}

Estimates *Run::estimatesOf(unsigned core) const {
  if (estimates_.empty()) return nullptr;
  return estimates_.size() == 1 ? estimates_.front().get() : estimates_.at(core).get();
}

void Run::addFlow(const FlowPlan &plan, std::uint16_t port, std::uint64_t name) {
  const std::uint32_t remote = network_.address(plan.host);
  if (plan.core)
    flows_.push_back(std::make_unique<CoreFlow>(plan, plan_.marks, *cores_.at(plan.source), remote, port, name));
  else
    flows_.push_back(std::make_unique<Ns3Flow>(plan, plan_.marks, network_.host(plan.source), remote, port));
  receivers_.push_back(std::make_unique<Receiver>(network_.host(plan.host), port, *flows_.back()));
  schedule(*flows_.back());
}

void Run::schedule(Flow &flow) {
  const FlowPlan &plan = flow.record.plan();
  if (!plan.estimate.empty())
    Simulator::Schedule(std::max(NanoSeconds(plan.start) - lookAhead, Time(0)), &Flow::expect, &flow);
  Simulator::Schedule(NanoSeconds(plan.start), &Flow::start, &flow);
  for (const WritePlan &write : plan.writes)
    Simulator::Schedule(NanoSeconds(std::max(write.at, plan.start)), &Flow::write, &flow, write.bytes);
  for (const TellPlan &tell : plan.tells) Simulator::Schedule(NanoSeconds(tell.at), &Flow::tell, &flow, tell);
  if (plan.stop >= 0) Simulator::Schedule(NanoSeconds(plan.stop), &Flow::stop, &flow);
}

void Run::go() {
  if (!failure_.empty()) return;
  if (plan_.measure > 0) Simulator::Schedule(NanoSeconds(plan_.measure), &Run::beginMeasuring, this);
  if (plan_.sample > 0) sample();
  Simulator::Schedule(lookInterval, &Run::look, this);
  Simulator::Stop(NanoSeconds(plan_.duration));
  Simulator::Run();
  for (const auto &flow : flows_) flow->record.end(Simulator::Now().GetSeconds());
}

void Run::beginMeasuring() {
  for (const auto &flow : flows_) flow->record.begin(Simulator::Now().GetSeconds());
  for (const auto &watch : network_.watches()) watch->begin();
}

/// Ends the run where a connection has failed, or all has been sent.
void Run::look() {
  bool complete = plan_.complete;
  for (const auto &flow : flows_) {
    flow->check();
    if (!flow->record.failure.empty()) {
      failure_ = flow->record.plan().label + ": " + flow->record.failure;
      return Simulator::Stop();
    }
    complete = complete && flow->record.complete();
  }
  if (complete) return Simulator::Stop();
  Simulator::Schedule(lookInterval, &Run::look, this);
}

void Run::sample() {
  Sample now{Simulator::Now().GetSeconds(), {}, {}, {}, {}};
  for (const auto &flow : flows_) {
    now.windows.push_back(flow->record.windowNow());
    now.progress.push_back(flow->record.total());
  }
  for (const auto &watch : network_.watches()) {
    now.queues.push_back(watch->packets());
    now.drops.push_back(watch->dropped);
  }
  samples_.push_back(std::move(now));
  Simulator::Schedule(NanoSeconds(plan_.sample), &Run::sample, this);
}

std::string Run::failure() const { return failure_; }

double Run::coreWallSeconds() const {
  double sum = 0;
  for (const auto &core : cores_) sum += core->wallSeconds();
  return sum;
}

std::uint64_t Run::coreClocks() const {
  std::uint64_t sum = 0;
  for (const auto &core : cores_) {
    downbeat_counters counters;
    downbeat_get_counters(core->device(), &counters);
    sum += counters.clocks;
  }
  return sum;
}

std::uint64_t Run::coreSegments() const {
  std::uint64_t sum = 0;
  for (const auto &flow : flows_) sum += flow->record.plan().core ? flow->record.segments : 0;
  return sum;
}

void Run::print(Json &json) const {
  json.field("failure", failure_);
  json.field("seconds", Simulator::Now().GetSeconds());
  json.name("links");
  json.open('[');
  for (const auto &watch : network_.watches()) watch->print(json);
  json.close(']');
  json.name("flows");
  json.open('[');
  for (const auto &flow : flows_) flow->record.print(json);
  json.close(']');
  printSamples(json);
}

void Run::printSamples(Json &json) const {
  const auto list = [&](std::string_view name, const auto &value) {
    json.name(name);
    json.open('[');
    for (const Sample &sample : samples_) json.value(value(sample));
    json.close(']');
  };
  json.name("samples");
  json.open('{');
  list("seconds", [](const Sample &sample) { return sample.seconds; });
  list("windows", [](const Sample &sample) { return sample.windows; });
  list("progress", [](const Sample &sample) { return sample.progress; });
  list("queues", [](const Sample &sample) { return sample.queues; });
  list("drops", [](const Sample &sample) { return sample.drops; });
  json.close('}');
}
