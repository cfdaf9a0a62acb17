// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan.h"

#include <functional>
#include <sstream>
#include <stdexcept>

namespace {

using Setter = std::function<void(const std::string &)>;
using Setters = std::map<std::string, Setter>;

template <typename Number> Setter whole(Number &place) {
  return [&place](const std::string &text) { place = static_cast<Number>(std::stoll(text)); };
}
Setter wide(std::uint64_t &place) {
  return [&place](const std::string &text) { place = std::stoull(text, nullptr, 0); };
}
Setter real(double &place) {
  return [&place](const std::string &text) { place = std::stod(text); };
}
Setter text(std::string &place) {
  return [&place](const std::string &value) { place = value; };
}
Setter flag(bool &place) {
  return [&place](const std::string &value) { place = value == "1"; };
}

std::vector<std::string> split(const std::string &list, char separator) {
  std::vector<std::string> parts;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, separator);) parts.push_back(word);
  return parts;
}

/// `A,B`.
template <typename Number> Setter list(std::vector<Number> &place) {
  return [&place](const std::string &value) {
    for (const std::string &one : split(value, ',')) place.push_back(static_cast<Number>(std::stoll(one)));
  };
}

/// `A:B,A:B`.
template <typename First, typename Second> Setter pairs(std::vector<std::pair<First, Second>> &place) {
  return [&place](const std::string &value) {
    for (const std::string &pair : split(value, ',')) {
      const auto colon = pair.find(':');
      place.emplace_back(static_cast<First>(std::stoll(pair)), static_cast<Second>(std::stod(pair.substr(colon + 1))));
    }
  };
}

void set(std::istringstream &words, const Setters &setters) {
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const auto found = setters.find(word.substr(0, equals));
    if (found == setters.end() || equals == std::string::npos) throw std::runtime_error("unknown word " + word);
    found->second(word.substr(equals + 1));
  }
}

Setters ofRun(Plan &plan) {
  return {{"seed", wide(plan.seed)},
          {"duration", whole(plan.duration)},
          {"measure", whole(plan.measure)},
          {"sample", whole(plan.sample)},
          {"warm-up", whole(plan.warmUp)},
          {"complete", flag(plan.complete)},
          {"miss-weight", whole(plan.estimator.missWeight)},
          {"spand-lower-bound", flag(plan.estimator.spandLowerBound)},
          {"routers", whole(plan.routers)},
          {"marks", list(plan.marks.times)},
          {"sizes", list(plan.marks.sizes)}};
}

Setters ofLink(LinkPlan &link) {
  return {{"a", whole(link.a)},
          {"b", whole(link.b)},
          {"rate", wide(link.rate)},
          {"delay", whole(link.delay)},
          {"loss", real(link.loss)},
          {"queue", text(link.queue.size)},
          {"red-low", real(link.queue.redLow)},
          {"red-high", real(link.queue.redHigh)}};
}

Setters ofAccess(AccessPlan &access) {
  return {{"at", whole(access.at)}, {"rate", wide(access.rate)}, {"delay", whole(access.delay)}};
}

Setters ofSite(SitePlan &site) {
  return {{"library", text(site.library)}, {"uri", text(site.uri)}, {"key", text(site.key)}};
}

Setters ofFlow(FlowPlan &flow) {
  return {{"label", text(flow.label)},
          {"core", flag(flow.core)},
          {"source", whole(flow.source)},
          {"host", whole(flow.host)},
          {"start", whole(flow.start)},
          {"stop", whole(flow.stop)},
          {"startup", text(flow.startup)},
          {"steady", text(flow.steady)},
          {"startup-low", wide(flow.startupArgument[0])},
          {"startup-high", wide(flow.startupArgument[1])},
          {"steady-low", wide(flow.steadyArgument[0])},
          {"steady-high", wide(flow.steadyArgument[1])},
          {"tcp", text(flow.tcp)},
          {"initial-window", whole(flow.initialWindow)},
          {"ssthresh", whole(flow.ssthresh)},
          {"nssr", flag(flow.nssr)},
          {"reno-recovery", flag(flow.renoRecovery)},
          {"rack-recovery", flag(flow.rackRecovery)},
          {"estimate", text(flow.estimate)},
          {"observed", flag(flow.observed)},
          {"ahead", wide(flow.ahead)},
          {"ack-every", whole(flow.ackEvery)},
          {"ack-timeout", whole(flow.ackTimeout)},
          {"rwnd", wide(flow.rwnd)},
          {"finish", flag(flow.finish)},
          {"trace", flag(flow.trace)}};
}

Setters ofTraffic(TrafficPlan &traffic) {
  return {{"kind", text(traffic.kind)},    {"from", text(traffic.from)},    {"to", text(traffic.to)},
          {"sizes", pairs(traffic.sizes)}, {"start", whole(traffic.start)}, {"stop", whole(traffic.stop)},
          {"on", whole(traffic.on)},       {"off", whole(traffic.off)},     {"shape", real(traffic.shape)},
          {"rates", pairs(traffic.rates)}};
}

Setters ofPairs(PairsPlan &pairs) {
  return {{"label", text(pairs.label)},
          {"from", whole(pairs.from)},
          {"to", whole(pairs.to)},
          {"bytes", whole(pairs.bytes)},
          {"leaves", list(pairs.leaves)}};
}

void readLine(Plan &plan, std::istringstream &words) {
  std::string kind;
  words >> kind;
  if (kind == "run") return set(words, ofRun(plan));
  if (kind == "link") return set(words, ofLink(plan.links.emplace_back()));
  if (kind == "host") return set(words, ofAccess(plan.hosts.emplace_back()));
  if (kind == "core") return set(words, ofAccess(plan.cores.emplace_back()));
  if (kind == "site") return set(words, ofSite(plan.sites.emplace_back()));
  if (kind == "flow") return set(words, ofFlow(plan.flows.emplace_back()));
  if (kind == "traffic") return set(words, ofTraffic(plan.traffic.emplace_back()));
  if (kind == "pairs") return set(words, ofPairs(plan.pairs.emplace_back()));
  if (kind == "default") {
    std::string name, value;
    words >> name >> value;
    plan.defaults[name] = value;
  } else if (kind == "change" && !plan.links.empty()) {
    LinkChange &change = plan.links.back().changes.emplace_back();
    set(words, {{"at", whole(change.at)},
                {"rate", whole(change.rate)},
                {"delay", whole(change.delay)},
                {"loss", real(change.loss)}});
  } else if (kind == "write" && !plan.flows.empty()) {
    auto &write = plan.flows.back().writes.emplace_back();
    set(words, {{"at", whole(write.at)}, {"bytes", wide(write.bytes)}});
  } else if (kind == "argument" && !plan.flows.empty()) {
    auto &change = plan.flows.back().arguments.emplace_back();
    set(words, {{"at", whole(change.at)}, {"low", wide(change.argument[0])}, {"high", wide(change.argument[1])}});
  } else {
    throw std::runtime_error("unknown kind " + kind);
  }
}

} // namespace

std::vector<Plan> Plan::read(std::istream &in) {
  std::vector<Plan> plans(1);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line);
    try {
      if (line == "next")
        plans.emplace_back();
      else if (!line.empty())
        readLine(plans.back(), words);
    } catch (const std::exception &error) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
    }
  }
  return plans;
}
