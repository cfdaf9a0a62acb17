/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// Careful Resume's saved parameters: one set for a remote endpoint (RFC 9959 3.1), with a lifetime (2.4).
#pragma once

#include <cstdint>
#include <vector>

#include "address.h"
#include "list.h"

namespace downbeat::estimator {

struct Saved {
  downbeat_address remote{};
  uint64_t time = 0;       // ns, when it was measured
  uint64_t window = 0;     // bytes: saved_cwnd
  uint64_t roundTrip = 0; // ns: saved_rtt
  uint64_t user = 0;       // the connection that has taken it; 0: none
  Links age;
};

class SavedParameters {
public:
  SavedParameters(uint32_t capacity, const uint64_t (&secret)[2]);

  /// The set of that endpoint, or NULL.
  Saved *find(const downbeat_address &remote);
  /// A newer set takes the place of the endpoint's own; where all places are taken, of the one measured longest ago.
  void put(const downbeat_address &remote, uint64_t time, uint64_t window, uint64_t roundTrip);
  /// After a safe retreat the set is void (RFC 9959 3.5), and after its lifetime.
  void remove(const downbeat_address &remote);
  template <class Each> void each(Each each) const {
    for (uint32_t at = age_.first; at != nowhere; at = records_[at].age.after) each(records_[at]);
  }
  size_t bytes() const { return records_.capacity() * sizeof(Saved) + free_.capacity() * 4 + index_.bytes(); }

private:
  uint32_t place(const downbeat_address &remote) const;

  uint64_t secret_[2];
  std::vector<Saved> records_;
  std::vector<uint32_t> free_;
  Index index_;
  Ends age_; // by time of put
};

} // namespace downbeat::estimator
