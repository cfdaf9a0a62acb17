// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "estimate.h"

#include <algorithm>
#include <vector>

namespace downbeat::gateway {
namespace {

using Words = std::vector<double>;

double lowerMedian(Words &words) {
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>((words.size() - 1) / 2);
  std::nth_element(words.begin(), middle, words.end());
  return *middle;
}

double upperMedian(Words &words) {
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>(words.size() / 2);
  std::nth_element(words.begin(), middle, words.end());
  return *middle;
}

std::size_t quorum(std::size_t reporters) { return reporters < 3 ? 1 : std::max<std::size_t>(3, reporters / 2 + 1); }

void transfers(Response &response, std::span<const Row> rows, std::uint32_t now, Aggregate how, std::uint32_t min) {
  thread_local Words windows, rtts, acked, counts;
  windows.clear(), rtts.clear(), acked.clear(), counts.clear();
  Mean all;
  for (const Row &row : rows) {
    const Mean sum = row.sums(now);
    if (!sum.count) continue;
    windows.push_back(sum.window / sum.count);
    rtts.push_back(sum.rtt / sum.count);
    acked.push_back(sum.acked / sum.count);
    counts.push_back(sum.count);
    all.count += sum.count;
    all.window += sum.window;
    all.rtt += sum.rtt;
    all.acked += sum.acked;
  }
  if (all.count == 0) return;
  const bool median = how == Aggregate::median;
  const double largest = median ? upperMedian(counts) : UINT32_MAX;
  double count = 0;
  for (double each : counts) count += std::min(each, largest);
  if (count < min) return;
  response.transferReporters = static_cast<std::uint16_t>(windows.size());
  response.transfers = static_cast<std::uint32_t>(std::min(count, double(UINT32_MAX)));
  response.window = median ? lowerMedian(windows) : all.window / all.count;
  response.rtt = median ? upperMedian(rtts) : all.rtt / all.count;
  response.acked = median ? lowerMedian(acked) : all.acked / all.count;
}

void states(Response &response, std::span<const Row> rows, std::uint32_t now) {
  thread_local Words oldest, own;
  oldest.clear(), own.clear();
  std::size_t reporters = 0;
  for (const Row &row : rows) {
    if (!row.hasState(now)) continue;
    ++reporters;
    if (row.state.steady >= 1) oldest.push_back(row.state.window);
  }
  // Without w_o LISS says nothing (thesis, Eq. 2). Who has a steady connection is each one's own word.
  if (oldest.size() < quorum(reporters)) return;
  response.oldest = lowerMedian(oldest);
  for (const Row &row : rows)
    if (row.hasState(now)) own.push_back(row.state.steady + row.state.slow / response.oldest);
  response.stateReporters = static_cast<std::uint16_t>(own.size());
  response.connections = static_cast<double>(own.size()) * lowerMedian(own);
}

void saved(Response &response, std::span<const Row> rows, std::uint32_t now) {
  thread_local Words windows, rtts;
  windows.clear(), rtts.clear();
  for (const Row &row : rows) {
    if (!row.hasSaved(now)) continue;
    windows.push_back(row.saved.window);
    rtts.push_back(row.saved.rtt);
  }
  if (windows.empty()) return;
  response.savedReporters = static_cast<std::uint16_t>(windows.size());
  response.savedWindow = lowerMedian(windows);
  response.savedRtt = upperMedian(rtts);
}

} // namespace

Response estimate(const Prefix &prefix, std::span<const Row> rows, Nanoseconds now, Aggregate how,
                  std::uint32_t minReports) {
  const std::uint32_t bucket = bucketOf(now);
  Response response{.prefix = prefix};
  transfers(response, rows, bucket, how, minReports);
  states(response, rows, bucket);
  saved(response, rows, bucket);
  if (!response.known()) return response;
  // The host may keep the response for a bucket's time, but not beyond the last report behind it.
  std::uint32_t end = 0;
  for (const Row &row : rows) end = std::max(end, row.ends(bucket));
  const Nanoseconds left = Nanoseconds(end - bucket) * bucketTime - now % bucketTime;
  response.lifetime = static_cast<std::uint32_t>(std::min(left, bucketTime) / millisecond);
  return response;
}

} // namespace downbeat::gateway
