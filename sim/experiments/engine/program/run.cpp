// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run.h"

#include <algorithm>

#include <ns3/simulator.h>

#include "flows/ns3_flow.h"
#include "flows/site_estimates.h"

using namespace ns3;

namespace {
const Time lookInterval = MilliSeconds(500); // between two checks of the connections
const Time lookAhead = MilliSeconds(20); // a host sends its request to the gateway when it resolves the name
} // namespace

Run::Run(Plan plan) : plan_(std::move(plan)), network_(plan_) {
  if (std::ranges::any_of(plan_.flows, [](const FlowPlan &flow) { return flow.observed || !flow.estimate.empty(); }))
    openEstimates();
  for (unsigned i = 0; i < plan_.cores.size() && failure_.empty(); ++i) {
    cores_.push_back(std::make_unique<Core>(network_.router(plan_.cores[i].at), plan_.cores[i], i, estimatesOf(i)));
    failure_ = cores_.back()->open(plan_.seed * 256 + i);
  }
  network_.route();
  if (!failure_.empty()) return;
  for (unsigned i = 0; i < plan_.flows.size(); ++i)
    addFlow(plan_.flows[i], static_cast<std::uint16_t>(Receiver::firstPort + i), i + 1);
  for (unsigned i = 0; i < plan_.traffic.size(); ++i)
    traffic_.push_back(std::make_unique<Traffic>(plan_.traffic[i], network_, i));
  for (const PairsPlan &pairs : plan_.pairs) pairs_.push_back(std::make_unique<Pairs>(pairs, network_));
}

void Run::openEstimates() {
  if (plan_.sites.empty()) estimates_.push_back(std::make_unique<OwnEstimates>(plan_.estimator));
  for (const SitePlan &site : plan_.sites) estimates_.push_back(std::make_unique<SiteEstimates>(site, plan_.estimator));
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
  if (!plan_.isLate(plan)) schedule(*flows_.back());
}

void Run::schedule(Flow &flow) {
  const FlowPlan &plan = flow.record.plan();
  const auto until = [](std::int64_t at) { return std::max(NanoSeconds(at) - Simulator::Now(), Time(0)); };
  if (!plan.estimate.empty()) Simulator::Schedule(until(plan.start - lookAhead.GetNanoSeconds()), &Flow::expect, &flow);
  Simulator::Schedule(until(plan.start), &Flow::start, &flow);
  for (const WritePlan &write : plan.writes)
    Simulator::Schedule(until(std::max(write.at, plan.start)), &Flow::write, &flow, write.bytes);
  for (const ArgumentPlan &change : plan.arguments)
    Simulator::Schedule(until(change.at), &Flow::changeArgument, &flow, change);
  if (plan.stop >= 0) Simulator::Schedule(until(plan.stop), &Flow::stop, &flow);
}

void Run::warmUp() {
  if (!failure_.empty()) return;
  if (plan_.measure > 0) Simulator::Schedule(NanoSeconds(plan_.measure), &Run::beginMeasuring, this);
  if (plan_.sample > 0) sample();
  Simulator::Schedule(lookInterval, &Run::look, this);
  if (plan_.warmUp == 0) return;
  Simulator::Stop(NanoSeconds(plan_.warmUp));
  Simulator::Run();
}

void Run::beginLate(const Plan &plan) {
  for (unsigned i = 0; i < flows_.size(); ++i) {
    if (!plan.isLate(plan.flows.at(i))) continue;
    plan_.flows[i] = plan.flows[i];
    schedule(*flows_[i]);
  }
}

void Run::go(const Plan &plan) {
  if (!failure_.empty()) return;
  beginLate(plan);
  Simulator::Stop(NanoSeconds(plan.duration) - Simulator::Now());
  Simulator::Run();
  for (const auto &flow : flows_) flow->record.end(Simulator::Now().GetSeconds());
}

void Run::beginMeasuring() {
  for (const auto &flow : flows_) flow->record.begin(Simulator::Now().GetSeconds());
  for (const auto &watch : network_.watches()) watch->begin();
}

/// Ends the run where a connection has failed, or all has been sent.
void Run::look() {
  bool complete = plan_.complete && Simulator::Now() >= NanoSeconds(plan_.warmUp); // flows are still to begin
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

CoreCost Run::cost() const {
  CoreCost sum;
  for (const auto &core : cores_) {
    downbeat_sim_counters counters;
    downbeat_sim_get_counters(core->device(), &counters);
    sum.seconds += core->wallSeconds();
    sum.clocks += counters.clocks;
  }
  for (const auto &flow : flows_) sum.segments += flow->record.plan().core ? flow->record.allSegments() : 0;
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
  if (!pairs_.empty()) {
    json.name("pairs");
    json.open('[');
    for (const auto &pairs : pairs_) pairs->print(json);
    json.close(']');
  }
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
