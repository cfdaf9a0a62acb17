// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "linger.h"

#include <netinet/in.h>

#include "leg.h"

namespace downbeat {

namespace {

constexpr std::chrono::milliseconds quiet{20}; // in which the leg has brought what it has

} // namespace

void Linger::set(std::optional<std::chrono::seconds> time, int end) {
  time_ = time;
  if (end >= 0) setDeafToEnd(end, waits());
}

void Linger::join(int end) const {
  if (waits()) setDeafToEnd(end, true);
}

bool Linger::isQuiet(const Progress &progress, Clock::time_point now) {
  if (progress.unread || progress.sent != progress.acknowledged || progress.sent != quietAt_) quietSince_ = now;
  quietAt_ = progress.sent;
  return now >= quietSince_ + quiet;
}

/// After the close the peer gets what is left. Once no more comes but the end, and perhaps bytes with it, the end hears
/// that too, and the program's kernel does not hear that it did until the peer has it.
void Linger::step(const Progress &progress, int end) {
  const auto now = Clock::now();
  if (!until_) {
    if (!progress.closed) return;
    until_ = now + *time_;
  }
  if (!hearsEnd_) {
    hearsEnd_ = isQuiet(progress, now);
    if (hearsEnd_) setOption(end, IPPROTO_IP, IP_TTL, unheardTtl);
  }
  const bool over = progress.over || now >= *until_;
  if (hearsEnd_ || over) setDeafToEnd(end, false);
  if (!over) return;
  setOption(end, IPPROTO_IP, IP_TTL, heardTtl);
  time_.reset();
}

} // namespace downbeat
