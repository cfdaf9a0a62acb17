// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics.h"

namespace downbeat::gateway {

std::string metrics(const Counters &c) {
  std::string text;
  const auto name = [](const char *own) { return std::string("downbeat_gateway_") + own; };
  const auto family = [&](const char *own, const char *help, const char *type) {
    text += "# HELP " + name(own) + " " + help + "\n# TYPE " + name(own) + " " + type + "\n";
  };
  const auto labelled = [&](const char *own, const Counter &counter, const char *label, const char *value) {
    text += name(own) + "{" + label + "=\"" + value + "\"} " + std::to_string(counter.get()) + "\n";
  };
  const auto single = [&](const char *own, const char *help, const Counter &counter, const char *type) {
    family(own, help, type);
    text += name(own) + " " + std::to_string(counter.get()) + "\n";
  };
  single("received_total", "datagrams that arrived", c.received, "counter");
  family("accepted_total", "messages accepted, by type", "counter");
  labelled("accepted_total", c.challenges, "type", "challenged");
  labelled("accepted_total", c.hellos, "type", "hello");
  labelled("accepted_total", c.reports, "type", "report");
  labelled("accepted_total", c.queries, "type", "query");
  family("refused_total", "messages refused, by cause; they change nothing", "counter");
  for (std::size_t at = 0; at < c.refused.size(); ++at)
    labelled("refused_total", c.refused[at], "cause", refusalNames[at]);
  single("report_items_total", "reports in accepted messages", c.reportItems, "counter");
  const char *responses = "answers_total";
  family(responses, "prefixes answered, with and without an estimate", "counter");
  labelled(responses, c.responsesKnown, "known", "yes");
  labelled(responses, c.responsesUnknown, "known", "no");
  single("prefixes", "prefixes in the store", c.prefixes, "gauge");
  single("reporters", "reporters with a session", c.reporters, "gauge");
  single("sessions", "sessions", c.sessions, "gauge");
  single("evicted_prefixes_total", "prefixes that made place, least recently used first", c.evictedPrefixes, "counter");
  single("evicted_sessions_total", "sessions that made place", c.evictedSessions, "counter");
  single("unsent_total", "answers that the kernel did not take", c.unsent, "counter");
  single("snapshots_total", "snapshots written", c.snapshots, "counter");
  single("snapshot_failures_total", "snapshots that could not be written", c.snapshotFailures, "counter");
  single("restored_prefixes", "prefixes taken from the snapshot at the start", c.restoredPrefixes, "gauge");
  single("redis_connected", "1 while the site's Redis answers", c.relayConnected, "gauge");
  single("redis_disconnects_total", "times that Redis was lost", c.relayDisconnects, "counter");
  family("relayed_reports_total", "reports to and from the site's other gateways", "counter");
  labelled("relayed_reports_total", c.relaySent, "way", "sent");
  labelled("relayed_reports_total", c.relayTaken, "way", "taken");
  labelled("relayed_reports_total", c.relayLost, "way", "lost");
  labelled("relayed_reports_total", c.relayRefused, "way", "refused");
  return text;
}

} // namespace downbeat::gateway
