// SPDX-License-Identifier: BSD-2-Clause-Patent
// The two rings of a port, in host memory.
#pragma once

#include <atomic>
#include <cstring>
#include <deque>
#include <optional>

#include "port.h"

namespace downbeat {

/// Commands to the core. One that finds the ring full waits here, so that an end is never lost.
class CommandRing {
public:
  explicit CommandRing(Port &port) : port_(port), entries_(port.rings().commands) {}

  /// commandHead when it is done.
  std::uint32_t push(const format::Command &command) {
    waiting_.push_back(command);
    const std::uint32_t done = tail_ + static_cast<std::uint32_t>(waiting_.size());
    flush();
    return done;
  }
  /// Puts what waits into the ring, as far as there is space.
  void flush() {
    const std::uint32_t before = tail_;
    while (!waiting_.empty() && (free() || (advanceTo(port_.commandHead()), free()))) {
      entries_[tail_ % entries_.size()] = waiting_.front();
      waiting_.pop_front();
      ++tail_;
    }
    if (tail_ != before) port_.ring(format::commandTail, tail_);
  }
  /// The device has done all commands before this index.
  void advanceTo(std::uint32_t head) {
    if (static_cast<std::int32_t>(head - head_) > 0 && static_cast<std::int32_t>(head - tail_) <= 0) head_ = head;
  }
  bool waits() const { return !waiting_.empty(); }
  std::uint32_t head() const { return head_; }
  std::uint32_t tail() const { return tail_; }
  /// The port was started anew.
  void reset() { head_ = tail_ = 0; }
  /// The device has done everything.
  bool empty() {
    advanceTo(port_.commandHead());
    return waiting_.empty() && head_ == tail_;
  }

private:
  bool free() const { return tail_ - head_ < entries_.size(); }

  Port &port_;
  std::span<format::Command> entries_;
  std::deque<format::Command> waiting_;
  std::uint32_t head_ = 0, tail_ = 0;
};

/// Notifications of the core.
class NotificationRing {
public:
  explicit NotificationRing(Port &port) : port_(port), entries_(port.rings().notifications) {}

  /// The next one, if it is complete.
  std::optional<format::Notification> take() {
    format::Notification &entry = entries_[head_ % entries_.size()];
    const std::uint8_t lap = (head_ / entries_.size()) % 2 == 0 ? 1 : 0;
    // The phase is in the last word that the core writes; what is before it is there when it is.
    if ((std::atomic_ref(entry.phase).load(std::memory_order_acquire) & 1) != lap) return std::nullopt;
    std::optional<format::Notification> taken(entry);
    ++head_;
    return taken;
  }
  /// The core may write again over what was taken, and raises the interrupt when there is more.
  void arm() { port_.ring(format::notificationHeadArm, head_); }
  void release() { port_.ring(format::notificationHead, head_); }
  std::uint32_t head() const { return head_; }
  /// The port was started anew.
  void reset() {
    head_ = 0;
    arm();
  }
  std::size_t size() const { return entries_.size(); }

private:
  Port &port_;
  std::span<format::Notification> entries_;
  std::uint32_t head_ = 0;
};

} // namespace downbeat
