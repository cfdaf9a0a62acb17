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

void transfers(Answer &answer, std::span<const Row> rows, std::uint32_t now, Aggregate how, std::uint32_t least) {
  thread_local Words windows, rtts, acked;
  windows.clear(), rtts.clear(), acked.clear();
  Mean all;
  for (const Row &row : rows) {
    const Mean sum = row.sums(now);
    if (!sum.count) continue;
    windows.push_back(sum.window / sum.count);
    rtts.push_back(sum.rtt / sum.count);
    acked.push_back(sum.acked / sum.count);
    all.count += sum.count;
    all.window += sum.window;
    all.rtt += sum.rtt;
    all.acked += sum.acked;
  }
  if (all.count == 0 || all.count < least) return;
  answer.transferReporters = static_cast<std::uint16_t>(windows.size());
  answer.transfers = all.count;
  const bool median = how == Aggregate::median;
  answer.window = median ? lowerMedian(windows) : all.window / all.count;
  answer.rtt = median ? upperMedian(rtts) : all.rtt / all.count;
  answer.acked = median ? lowerMedian(acked) : all.acked / all.count;
}

void states(Answer &answer, std::span<const Row> rows, std::uint32_t now) {
  thread_local Words oldest, own;
  oldest.clear(), own.clear();
  for (const Row &row : rows)
    if (row.hasState(now) && row.state.steady >= 1) oldest.push_back(row.state.window);
  if (oldest.empty()) return; // no steady connection, no w_o: LISS says nothing (thesis, Eq. 2)
  answer.oldest = lowerMedian(oldest);
  for (const Row &row : rows)
    if (row.hasState(now)) own.push_back(row.state.steady + row.state.slow / answer.oldest);
  answer.stateReporters = static_cast<std::uint16_t>(own.size());
  answer.connections = static_cast<double>(own.size()) * lowerMedian(own);
}

void saved(Answer &answer, std::span<const Row> rows, std::uint32_t now) {
  thread_local Words windows, rtts;
  windows.clear(), rtts.clear();
  for (const Row &row : rows) {
    if (!row.hasSaved(now)) continue;
    windows.push_back(row.saved.window);
    rtts.push_back(row.saved.rtt);
  }
  if (windows.empty()) return;
  answer.savedReporters = static_cast<std::uint16_t>(windows.size());
  answer.savedWindow = lowerMedian(windows);
  answer.savedRtt = upperMedian(rtts);
}

} // namespace

Answer estimate(const Prefix &prefix, std::span<const Row> rows, Nanoseconds now, Aggregate how,
                std::uint32_t leastReports) {
  const std::uint32_t bucket = bucketOf(now);
  Answer answer{.prefix = prefix};
  transfers(answer, rows, bucket, how, leastReports);
  states(answer, rows, bucket);
  saved(answer, rows, bucket);
  if (!answer.known()) return answer;
  // The host may keep the answer for a bucket's time, but not beyond the last report behind it.
  std::uint32_t end = 0;
  for (const Row &row : rows) end = std::max(end, row.ends(bucket));
  const Nanoseconds left = Nanoseconds(end - bucket) * bucketTime - now % bucketTime;
  answer.lifetime = static_cast<std::uint32_t>(std::min(left, bucketTime) / millisecond);
  return answer;
}

} // namespace downbeat::gateway
