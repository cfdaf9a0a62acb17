// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pages that `downbeat gateway` reads.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "admin.h"
#include "metrics.h"
#include "wire/start.h"

namespace downbeat::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t maxRows = 1000;

std::map<std::string, std::string> query(const std::string &target) {
  std::map<std::string, std::string> found;
  const auto mark = target.find('?');
  for (std::size_t at = mark; at != std::string::npos && at + 1 < target.size();) {
    const auto end = target.find('&', at + 1);
    const std::string pair = target.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const auto sign = pair.find('=');
    if (sign != std::string::npos) found[pair.substr(0, sign)] = pair.substr(sign + 1);
    at = end;
  }
  return found;
}

std::size_t number(const std::map<std::string, std::string> &query, const std::string &name, std::size_t otherwise) {
  const auto found = query.find(name);
  if (found == query.end()) return otherwise;
  std::size_t value = 0;
  const std::string &text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

Json known(const Response &response) {
  Json json = {{"prefix", response.prefix.text()}, {"known", response.known()}, {"lifetime_ms", response.lifetime}};
  if (response.transferReporters)
    json["spand"] = {{"reporters", response.transferReporters},
                     {"reports", response.transfers},
                     {"window_bytes", response.window},
                     {"rtt_s", response.rtt},
                     {"segments_per_ack", response.acked}};
  if (response.stateReporters)
    json["liss"] = {{"reporters", response.stateReporters},
                    {"oldest_window_bytes", response.oldest},
                    {"connections", response.connections}};
  if (response.savedReporters)
    json["resume"] = {
        {"reporters", response.savedReporters}, {"window_bytes", response.savedWindow}, {"rtt_s", response.savedRtt}};
  return json;
}

} // namespace

bool Pages::response(Serves serves, const std::string &target, Nanoseconds now, std::string &body) const {
  const std::string page = target.substr(0, target.find('?'));
  if ((serves == Serves::metrics) != (page == "/metrics") || (serves == Serves::health && page != "/health"))
    return false;
  const auto requested = query(target);
  const std::size_t max = std::min(number(requested, "most", 20), maxRows);
  if (page == "/health")
    body = health(now);
  else if (page == "/metrics")
    body = metrics(counters_);
  else if (page == "/show")
    body = show(max, now);
  else if (page == "/top")
    body = top(max, now);
  else if (page == "/explain")
    body = explain(requested, now);
  else
    return false;
  return true;
}

std::string Pages::health(Nanoseconds now) const {
  const bool redis = !config_.redis.host.empty(), connected = counters_.relayConnected.get();
  return Json{{"status", redis && !connected ? "degraded" : "ok"},
              {"store", !redis      ? "embedded"
                        : connected ? "redis"
                                    : "embedded, because Redis does not answer"},
              {"prefixes", counters_.prefixes.get()},
              {"reporters", counters_.reporters.get()},
              {"uptime_s", double(now - start_) / double(second)}}
      .dump();
}

std::string Pages::show(std::size_t max, Nanoseconds now) const {
  Json rows = Json::array();
  const Store &store = gateway_.store();
  store.each(max, [&](const Store::Entry &entry) {
    Json row = known(store.peek(entry, now));
    row["all_reports"] = entry.reports;
    row["all_queries"] = entry.queries;
    rows.push_back(std::move(row));
  });
  return Json{{"prefixes", store.size()}, {"bytes", store.bytes()}, {"rows", rows}}.dump();
}

std::string Pages::top(std::size_t max, Nanoseconds now) const {
  std::vector<std::pair<std::uint32_t, const Reporter *>> busy;
  for (const auto &[number, reporter] : gateway_.sessions().all()) busy.emplace_back(number, &reporter);
  const auto spoke = [](const auto &each) { return each.second->reports + each.second->queries; };
  const auto middle = busy.begin() + static_cast<std::ptrdiff_t>(std::min(max, busy.size()));
  std::ranges::partial_sort(busy, middle, std::greater(), spoke);
  Json rows = Json::array();
  for (auto each = busy.begin(); each != middle; ++each) {
    const Reporter &reporter = *each->second;
    rows.push_back({{"reporter", each->first},
                    {"reports", reporter.reports},
                    {"queries", reporter.queries},
                    {"refused", reporter.refused},
                    {"sessions", reporter.sessions.size()},
                    {"silent_s", double(now - reporter.seen) / double(second)}});
  }
  return Json{{"reporters", busy.size()}, {"rows", rows}}.dump();
}

std::string Pages::explain(const std::map<std::string, std::string> &requested, Nanoseconds now) const {
  const auto text = requested.find("prefix");
  const auto prefix = text == requested.end() ? std::nullopt : Prefix::parse(text->second);
  if (!prefix) return Json{{"error", "use a prefix without bits behind its length, as 192.0.2.0/24"}}.dump();
  const Store &store = gateway_.store();
  const Store::Entry *entry = store.find(*prefix);
  const Response response = entry ? store.peek(*entry, now) : Response{.prefix = *prefix};
  Json json = known(response);
  const double mss = static_cast<double>(std::clamp<std::size_t>(number(requested, "mss", 1460), 64, 65535));
  if (response.transferReporters) json["spand_window"] = spandWindow(response, number(requested, "bytes", 0), mss);
  if (response.stateReporters) json["liss_ssthresh"] = lissSsthresh(response, mss);
  json["aggregate"] = config_.store.aggregate == Aggregate::median ? "median" : "mean";
  Json rows = Json::array();
  const std::uint32_t bucket = bucketOf(now);
  for (const Row &row : entry ? entry->rows : std::vector<Row>()) {
    const Mean sum = row.sums(bucket);
    Json each = {{"reporter", row.reporter}};
    if (sum.count)
      each["spand"] = {{"reports", sum.count},
                       {"window_bytes", sum.window / sum.count},
                       {"rtt_s", sum.rtt / sum.count},
                       {"segments_per_ack", sum.acked / sum.count},
                       {"newest_s", (bucket - row.last) * (bucketTime / second)}};
    if (row.hasState(bucket))
      each["liss"] = {{"steady", row.state.steady}, {"slow_bytes", row.state.slow}, {"oldest_bytes", row.state.window}};
    if (row.hasSaved(bucket)) each["resume"] = {{"window_bytes", row.saved.window}, {"rtt_s", row.saved.rtt}};
    rows.push_back(std::move(each));
  }
  json["rows"] = std::move(rows);
  return json.dump();
}

} // namespace downbeat::gateway
