/* SPDX-License-Identifier: BSD-2-Clause-Patent */
#include "saved.h"

namespace downbeat::estimator {

SavedParameters::SavedParameters(uint32_t capacity, const uint64_t (&secret)[2])
    : secret_{secret[0], secret[1]}, records_(capacity), index_(capacity) {
  free_.reserve(capacity);
  for (uint32_t at = capacity; at > 0; --at) free_.push_back(at - 1);
}

uint32_t SavedParameters::place(const downbeat_address &remote) const {
  return index_.find(hashed(secret_, remote, 0), [&](uint32_t at) { return same(records_[at].remote, remote); });
}

Saved *SavedParameters::find(const downbeat_address &remote) {
  const uint32_t at = place(remote);
  return at == nowhere ? nullptr : &records_[at];
}

void SavedParameters::put(const downbeat_address &remote, uint64_t time, uint64_t window, uint64_t roundTrip) {
  uint32_t at = place(remote);
  if (at == nowhere) {
    if (free_.empty()) {
      const downbeat_address oldest = records_[age_.first].remote;
      remove(oldest);
    }
    at = free_.back();
    free_.pop_back();
    records_[at] = {.remote = remote};
    index_.insert(hashed(secret_, remote, 0), at);
  } else {
    unlink(records_, &Saved::age, age_, at);
  }
  append(records_, &Saved::age, age_, at);
  records_[at].time = time;
  records_[at].window = window;
  records_[at].roundTrip = roundTrip;
}

void SavedParameters::remove(const downbeat_address &remote) {
  const uint32_t at = place(remote);
  if (at == nowhere) return;
  unlink(records_, &Saved::age, age_, at);
  index_.erase(hashed(secret_, remote, 0), at);
  free_.push_back(at);
}

} // namespace downbeat::estimator
