// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "row.h"

#include <algorithm>

namespace downbeat::gateway {
namespace {

// Buckets ago, given that the row's newest is less than 2^16 buckets old.
std::uint32_t age(const Bucket &bucket, std::uint32_t last, std::uint32_t now) {
  return now - last + static_cast<std::uint16_t>(static_cast<std::uint16_t>(last) - bucket.index);
}

} // namespace

void Row::add(const Report &report, std::uint32_t now) {
  switch (report.kind) {
  case Kind::transfer: {
    forget(now);
    const auto index = static_cast<std::uint16_t>(now);
    // Reports of other gateways come with their age, so a bucket may be older than the newest.
    auto place = std::ranges::find(buckets, index, &Bucket::index);
    if (place == buckets.end()) {
      if (buckets.size() == buckets.capacity())
        buckets.reserve(std::min<std::size_t>(bucketsKept, buckets.size() * 2 + 1));
      place = buckets.insert(buckets.end(), Bucket{.index = index});
    }
    if (place->count == UINT16_MAX) break;
    ++place->count;
    place->acked += static_cast<float>(report.acked);
    place->window += report.window;
    place->rtt += report.rtt;
    last = std::max(last, now);
    break;
  }
  case Kind::state:
    if (now < state.index) break;
    state = {.index = now, .steady = static_cast<float>(report.steady), .slow = report.slow, .window = report.window};
    break;
  case Kind::saved:
    if (now < saved.index) break;
    saved = {.index = now, .window = report.window, .rtt = report.rtt};
    break;
  }
}

void Row::forget(std::uint32_t now) {
  if (!hasTransfers(now)) {
    if (last <= now) buckets.clear(), last = 0;
  } else {
    std::erase_if(buckets, [&](const Bucket &bucket) { return age(bucket, last, now) >= bucketsKept; });
  }
  if (state.index <= now && !hasState(now)) state = {};
  if (saved.index <= now && !hasSaved(now)) saved = {};
}

Mean Row::sums(std::uint32_t now) const {
  Mean sum;
  if (!hasTransfers(now)) return sum;
  for (const Bucket &bucket : buckets) {
    if (age(bucket, last, now) >= bucketsKept) continue;
    sum.count += bucket.count;
    sum.window += bucket.window;
    sum.rtt += bucket.rtt;
    sum.acked += bucket.acked;
  }
  return sum;
}

std::uint32_t Row::ends(std::uint32_t now) const {
  std::uint32_t end = 0;
  if (hasTransfers(now)) end = last + bucketsKept;
  if (hasState(now)) end = std::max(end, state.index + stateBuckets);
  if (hasSaved(now)) end = std::max(end, saved.index + bucketsKept);
  return end;
}

} // namespace downbeat::gateway
