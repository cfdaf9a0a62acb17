// SPDX-License-Identifier: BSD-2-Clause-Patent
// The process that made an object. A forked child has a copy of it, perhaps with a lock that a thread of the parent
// holds; rings, doorbells and descriptors are its parent's.
#pragma once

#include <atomic>

#include <pthread.h>

namespace downbeat {

class Owner {
public:
  Owner() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    static_cast<void>(registered);
    made_ = forks.load();
  }
  /// A load and a comparison: each call asks.
  bool isHere() const { return forks.load(std::memory_order_relaxed) == made_; }

private:
  static inline std::atomic<unsigned> forks = 0; // between the first program and this process
  unsigned made_;
};

} // namespace downbeat
