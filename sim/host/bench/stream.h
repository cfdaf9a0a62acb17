// SPDX-License-Identifier: BSD-2-Clause-Patent
// One end of a connection: writes a known stream into the send ring and checks the receive ring, both in pieces of
// every size.
#pragma once

#include <random>

#include "machine.h"

namespace downbeat::bench {

/// Byte `position` of the stream `name`.
inline std::uint8_t byteOf(std::uint64_t name, std::uint64_t position) {
  std::uint64_t word = (position / 8 + 1) * 0x9e3779b97f4a7c15 ^ name * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 30) * 0x94d049bb133111eb;
  return static_cast<std::uint8_t>((word ^ word >> 29) >> (8 * (position % 8)));
}

class Stream {
public:
  /// `sends`, `receives`: names of the two streams. `slow`: the program rests between pieces, at random.
  Stream(Machine &machine, std::uint32_t port, const format::Notification &status, std::uint64_t sends,
         std::uint64_t receives, std::uint32_t seed, bool slow);

  /// What the program does in a step: perhaps writes a piece of at most `left` bytes, perhaps reads one.
  void step(std::uint64_t left);
  std::uint64_t written() const { return written_; }
  std::uint64_t checked() const { return checked_; }
  /// Bytes that were not the stream's.
  std::uint64_t wrong() const { return wrong_; }
  std::uint32_t reference() const { return reference_; }

private:
  const format::Notification &status() const { return host().statuses.at(flow_); }
  HostPort &host() const { return machine_.port(port_); }
  std::uint32_t piece(std::uint32_t most);

  Machine &machine_;
  std::uint32_t port_, flow_, reference_;
  std::uint32_t firstWritten_, firstReceived_; // sequence numbers of the streams' first bytes
  std::uint64_t sends_, receives_;
  std::uint64_t written_ = 0, consumed_ = 0, checked_ = 0, wrong_ = 0;
  std::mt19937 draw_;
  bool slow_;
};

} // namespace downbeat::bench
