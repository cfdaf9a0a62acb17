// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <vector>

namespace downbeat::gateway {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

class Collector : public prometheus::Collectable {
public:
  explicit Collector(const Counters &counters) : counters_(counters) {}

  std::vector<MetricFamily> Collect() const override {
    std::vector<MetricFamily> families;
    const auto family = [&](const char *name, const char *help, MetricType type) -> MetricFamily & {
      return families.emplace_back(MetricFamily{std::string("downbeat_gateway_") + name, help, type, {}});
    };
    const auto value = [](MetricFamily &to, const Counter &counter, const char *label = "", const char *text = "") {
      ClientMetric metric;
      if (*label) metric.label.push_back({label, text});
      (to.type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = static_cast<double>(counter.get());
      to.metric.push_back(metric);
    };
    const auto single = [&](const char *name, const char *help, const Counter &counter, MetricType type) {
      value(family(name, help, type), counter);
    };
    constexpr auto total = MetricType::Counter, now = MetricType::Gauge;
    const Counters &c = counters_;
    single("received_total", "datagrams that arrived", c.received, total);
    auto &accepted = family("accepted_total", "messages accepted, by type", total);
    value(accepted, c.challenges, "type", "challenged");
    value(accepted, c.hellos, "type", "hello");
    value(accepted, c.reports, "type", "report");
    value(accepted, c.queries, "type", "query");
    auto &refused = family("refused_total", "messages refused, by cause; they change nothing", total);
    for (std::size_t at = 0; at < c.refused.size(); ++at) value(refused, c.refused[at], "cause", refusalNames[at]);
    single("report_items_total", "reports in accepted messages", c.reportItems, total);
    auto &responses = family("answers_total", "prefixes answered, with and without an estimate", total);
    value(responses, c.responsesKnown, "known", "yes");
    value(responses, c.responsesUnknown, "known", "no");
    single("prefixes", "prefixes in the store", c.prefixes, now);
    single("reporters", "reporters with a session", c.reporters, now);
    single("sessions", "sessions", c.sessions, now);
    single("evicted_prefixes_total", "prefixes that made place, least recently used first", c.evictedPrefixes, total);
    single("evicted_sessions_total", "sessions that made place", c.evictedSessions, total);
    single("unsent_total", "answers that the kernel did not take", c.unsent, total);
    single("snapshots_total", "snapshots written", c.snapshots, total);
    single("snapshot_failures_total", "snapshots that could not be written", c.snapshotFailures, total);
    single("restored_prefixes", "prefixes taken from the snapshot at the start", c.restoredPrefixes, now);
    single("redis_connected", "1 while the site's Redis answers", c.relayConnected, now);
    single("redis_disconnects_total", "times that Redis was lost", c.relayDisconnects, total);
    auto &relayed = family("relayed_reports_total", "reports to and from the site's other gateways", total);
    value(relayed, c.relaySent, "way", "sent");
    value(relayed, c.relayTaken, "way", "taken");
    value(relayed, c.relayLost, "way", "lost");
    value(relayed, c.relayRefused, "way", "refused");
    return families;
  }

private:
  const Counters &counters_;
};

} // namespace

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

std::variant<std::unique_ptr<Metrics>, std::string> Metrics::open(const std::string &address,
                                                                  const Counters &counters) {
  std::unique_ptr<Metrics> metrics(new Metrics);
  try { // prometheus-cpp says by an exception that the address is taken
    metrics->exposer_ = std::make_unique<prometheus::Exposer>(address, 1);
  } catch (const std::exception &error) { return "listen.metrics " + address + ": " + error.what(); }
  metrics->collectable_ = std::make_shared<Collector>(counters);
  metrics->exposer_->RegisterCollectable(metrics->collectable_);
  return metrics;
}

} // namespace downbeat::gateway
