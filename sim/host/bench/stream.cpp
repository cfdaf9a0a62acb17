// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "stream.h"

#include <algorithm>

namespace downbeat::bench {

Stream::Stream(Machine &machine, std::uint32_t port, const format::Notification &status, std::uint64_t sends,
               std::uint64_t receives, std::uint32_t seed, bool slow)
    : machine_(machine),
      port_(port),
      flow_(status.flow),
      reference_(status.flow | std::uint32_t{status.generation} << 16),
      firstWritten_(status.written),
      firstReceived_(status.consumed),
      sends_(sends),
      receives_(receives),
      draw_(seed),
      slow_(slow) {}

std::uint32_t Stream::piece(std::uint32_t most) {
  // Every order of magnitude as often as the others.
  const std::uint32_t bound = std::min<std::uint32_t>(most, 1u << draw_() % 24);
  return 1 + draw_() % std::max(bound, 1u);
}

void Stream::step(std::uint64_t left) {
  const Geometry &geometry = machine_.geometry;
  std::uint8_t *payload = machine_.memory.base();
  const auto acknowledged = static_cast<std::uint32_t>(status().acknowledged - firstWritten_);
  const std::uint32_t held =
      std::min<std::uint32_t>(static_cast<std::uint32_t>(written_) - acknowledged, geometry.sendBytes);
  const std::uint32_t space = geometry.sendBytes - held;
  if (left != 0 && space != 0 && !(slow_ && draw_() % 4 == 0)) {
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, space));
    const std::uint32_t length = std::min(piece(space), most);
    std::uint8_t *ring = payload + std::uint64_t{flow_} * geometry.sendBytes;
    for (std::uint32_t each = 0; each < length; ++each, ++written_)
      ring[(firstWritten_ + static_cast<std::uint32_t>(written_)) % geometry.sendBytes] = byteOf(sends_, written_);
    host().doorbell(format::writtenSequence, firstWritten_ + static_cast<std::uint32_t>(written_), reference_);
  }

  // What a notification tells of is looked at with it, so that one before its payload is seen.
  const std::uint8_t *ring = payload + geometry.receiveBase() + std::uint64_t{flow_} * geometry.receiveBytes;
  const bool finished = (status().flags & format::peerFinished) != 0;
  const std::uint32_t received = status().received - (finished ? 1 : 0) - firstReceived_;
  for (; static_cast<std::uint32_t>(checked_) != received; ++checked_)
    if (ring[(firstReceived_ + static_cast<std::uint32_t>(checked_)) % geometry.receiveBytes] !=
        byteOf(receives_, checked_))
      ++wrong_;
  const auto unread = static_cast<std::uint32_t>(checked_ - consumed_);
  if (unread == 0 || (slow_ && draw_() % 3 == 0)) return;
  consumed_ += std::min(piece(unread), unread);
  host().doorbell(format::consumedSequence, firstReceived_ + static_cast<std::uint32_t>(consumed_), reference_);
}

} // namespace downbeat::bench
