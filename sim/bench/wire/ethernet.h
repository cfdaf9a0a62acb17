// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames on a wire (IEEE 802.3 clause 3), byte by byte, both ways.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace wire {

using Bytes = std::vector<std::uint8_t>;

/// The FCS of IEEE 802.3 3.2.9, its first byte in bits 7 to 0.
std::uint32_t fcs(const std::uint8_t *bytes, std::size_t length);

/// A TCP segment for the bench's addresses in a frame of so many bytes without FCS, its checksums right.
Bytes segmentFrame(std::size_t length, std::uint32_t sequence);
inline constexpr std::uint64_t ownMac = 0x020000000001;
inline constexpr std::uint32_t ownIp = 0x0a000001;

/// The signals of one clock.
struct Symbol {
  std::uint8_t data = 0;
  bool valid = false;
};

/// The gaps between frames that start at multiples of `slotBytes`: twelve bytes on average, by the deficit idle count
/// of IEEE 802.3 46.3.1.4.
class Gaps {
public:
  explicit Gaps(unsigned slotBytes) : slotBytes_(slotBytes) {}
  /// The gap behind a frame of so many bytes without FCS, padded, when the next one waits.
  std::size_t behind(std::size_t length);
  void reset() { owed_ = 0; }

private:
  unsigned slotBytes_;
  std::size_t owed_ = 0; // bytes that earlier gaps were short of
};

/// Bytes of frames, each with preamble, SFD, FCS and a gap; idle when there is none.
class Serialiser {
public:
  explicit Serialiser(unsigned slotBytes = 1) : gaps_(slotBytes) {}
  void put(const Bytes &frame);
  bool empty() const { return symbols_.empty(); }
  std::size_t size() const { return symbols_.size(); }
  Symbol next();

private:
  std::deque<Symbol> symbols_;
  Gaps gaps_;
};

/// A frame that was seen on the wire.
struct Seen {
  std::size_t length = 0;   // without FCS
  std::uint64_t head = 0;   // its first eight bytes, the first lowest
  std::uint64_t sfd = 0;    // the number of its byte, as the pins count them
  std::uint64_t gap = 0;    // idle bytes before its preamble
  bool right = false;       // preamble and FCS
};

/// Finds the frames in a row of symbols.
class Deserialiser {
public:
  /// `place` is the number of the symbol's byte. True when a frame has ended; it is then in `seen`.
  bool take(Symbol symbol, std::uint64_t place);
  Seen seen;
  /// The bytes of the frame in `seen`, without FCS, until the next one begins; none of one that is too short.
  std::span<const std::uint8_t> frame() const;

private:
  Bytes bytes_;
  bool ended_ = false; // `bytes_` are those of the frame in `seen`
  std::uint64_t idle_ = 0;
};

} // namespace wire
