// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "saver.h"

namespace downbeat::gateway {
namespace {

constexpr std::size_t entriesAtOnce = 8;       // about 30 us for prefixes of ten reporters
constexpr std::size_t pieceBytes = 256 << 10;
constexpr std::size_t maxPieces = 16; // that wait for the disk

} // namespace

Saver::Saver(std::string file, Nanoseconds interval, Counters &counters, Log &log)
    : file_(std::move(file)), interval_(interval), counters_(counters), log_(log), thread_([this] { run(); }) {}

Saver::~Saver() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool Saver::step(Store &store, Nanoseconds now) {
  if (file_.empty()) {
    if (now < due_) return false;
    swept_ = store.sweep(swept_, entriesAtOnce, now, nullptr);
    if (swept_ == 0) due_ = now + interval_;
    return swept_ != 0;
  }
  if (!snapshot_.underWay()) {
    if (now < due_) return false;
    {
      const std::scoped_lock lock(mutex_);
      if (busy_) return false; // a slow disk: the file before this one is not done
      busy_ = true;
    }
    due_ = now + interval_;
    snapshot_.begin(Moment::read());
  }
  {
    const std::scoped_lock lock(mutex_);
    if (pieces_.size() >= maxPieces) return false; // a slow disk: memory holds the store once
  }
  const bool last = snapshot_.step(store, entriesAtOnce, now);
  if (last || snapshot_.pending() > pieceBytes) hand(snapshot_.piece(), last);
  return !last;
}

void Saver::saveAll(Store &store, Nanoseconds now) {
  if (file_.empty()) return;
  while (snapshot_.underWay()) {
    step(store, now);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return pieces_.size() < maxPieces; });
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
    busy_ = true;
  }
  snapshot_.begin(Moment::read());
  while (!snapshot_.step(store, 1000, now)) {
    hand(snapshot_.piece(), false);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return pieces_.size() < maxPieces; });
  }
  hand(snapshot_.piece(), true);
}

void Saver::hand(std::vector<std::uint8_t> piece, bool last) {
  {
    const std::scoped_lock lock(mutex_);
    pieces_.emplace_back(std::move(piece), last);
  }
  changed_.notify_all();
}

void Saver::run() {
  std::optional<FreshFile> file;
  std::string reason;
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stop_ || !pieces_.empty(); });
    if (pieces_.empty()) return;
    const auto [piece, last] = std::move(pieces_.front());
    pieces_.pop_front();
    lock.unlock();
    changed_.notify_all();
    if (!file) file.emplace(file_);
    if (reason.empty()) reason = file->write(piece);
    if (!last) continue;
    if (reason.empty()) reason = file->finish();
    (reason.empty() ? counters_.snapshots : counters_.snapshotFailures).add();
    if (!reason.empty()) log_.write(Log::error, "snapshot_failed", "reason", reason);
    file.reset();
    reason.clear();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

} // namespace downbeat::gateway
