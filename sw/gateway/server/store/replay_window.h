// SPDX-License-Identifier: BSD-2-Clause-Patent
// A window over sequence numbers: each is taken once, in any order within 1,024 of the highest (RFC 4303,
// section 3.4.3). And a limit on how long a message may be on its way, without any agreement of clocks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "wire/bytes.h"
#include "wire/clock.h"
#include "wire/counters.h"

namespace downbeat::gateway {

class ReplayWindow {
public:
  static constexpr std::uint64_t size = 1024;

  /// Takes the number, or says why not. Call it only for a message whose tag fits.
  std::optional<Refusal> take(std::uint64_t sequence) {
    if (sequence + size <= highest_ || sequence == 0) return Refusal::stale;
    if (sequence > highest_) {
      const std::uint64_t steps = sequence - highest_;
      if (steps >= size)
        bits_ = {};
      else
        for (std::uint64_t step = 1; step < steps; ++step) clear(highest_ + step);
      highest_ = sequence;
    } else if (bits_[word(sequence)] >> (sequence % 64) & 1) {
      return Refusal::replayed;
    }
    bits_[word(sequence)] |= std::uint64_t(1) << sequence % 64;
    return std::nullopt;
  }

  void write(Writer &writer) const {
    writer.number(highest_, 8);
    for (std::uint64_t bits : bits_) writer.number(bits, 8);
  }
  void read(Reader &reader) {
    highest_ = reader.number(8);
    for (std::uint64_t &bits : bits_) bits = reader.number(8);
  }

private:
  static std::size_t word(std::uint64_t sequence) { return sequence / 64 % (size / 64); }
  void clear(std::uint64_t sequence) { bits_[word(sequence)] &= ~(std::uint64_t(1) << sequence % 64); }

  std::uint64_t highest_ = 0;
  std::array<std::uint64_t, size / 64> bits_{};
};

/// Delay beyond the fastest message of the session. The fastest ages by 1/4,096, so that clocks may drift by 244 ppm.
/// Stamps come round after 49.7 days; a message that was held for so long is behind the replay window of a session that
/// lives, because a silent one expires.
class DelayLimit {
public:
  /// `stamp`: ms of the sender's clock modulo 2^32. True: the message took `max` ms longer than the fastest did, or
  /// came by so much sooner that its stamp is none of this clock. The first one is never late.
  bool late(std::uint32_t stamp, Nanoseconds now, std::uint32_t max) {
    const std::uint32_t delay = static_cast<std::uint32_t>(now / millisecond) - stamp;
    if (!std::exchange(started_, true)) fastest_ = delay, since_ = now;
    const std::int64_t drift = (now - since_) / millisecond / 4096;
    const std::int64_t whole = std::int64_t(1) << 32;
    std::int64_t later = static_cast<std::uint32_t>(delay - fastest_); // 0 to 2^32 - 1
    if (later >= whole - max) later -= whole;
    if (later <= drift) fastest_ = delay, since_ = now;
    return later - drift > std::int64_t(max);
  }

private:
  bool started_ = false;
  std::uint32_t fastest_ = 0;
  Nanoseconds since_ = 0;
};

} // namespace downbeat::gateway
