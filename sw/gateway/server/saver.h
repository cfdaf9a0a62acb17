// SPDX-License-Identifier: BSD-2-Clause-Patent
// Saves the store every few seconds: entries in small steps of the serving thread, the file by a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "log.h"
#include "snapshot.h"

namespace downbeat::gateway {

class Saver {
public:
  Saver(std::string file, Nanoseconds interval, Counters &counters, Log &log);
  ~Saver(); // what is in the queue is written

  /// A little work; true: more waits, so come again soon. Without a file it only forgets what is too old.
  bool step(Store &store, Nanoseconds now);
  void saveAll(Store &store, Nanoseconds now); // at the stop

private:
  void hand(std::vector<std::uint8_t> piece, bool last);
  void run();

  const std::string file_;
  const Nanoseconds interval_;
  Counters &counters_;
  Log &log_;
  Snapshot snapshot_;
  Nanoseconds due_ = 0;
  std::size_t swept_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::vector<std::uint8_t>, bool>> pieces_;
  bool stop_ = false, busy_ = false;
  std::thread thread_;
};

} // namespace downbeat::gateway
