// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames as bytes: where fields stand, checksums, and a segment made from its parts.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace fuzz {

using Bytes = std::vector<std::uint8_t>; // a frame without preamble and FCS
using View = std::span<const std::uint8_t>;
using Mac = std::array<std::uint8_t, 6>;

struct Station {
  Mac mac;
  std::uint32_t ip;
};

/// A connection as the core names it.
struct Tuple {
  std::uint32_t remoteIp;
  std::uint16_t remotePort, localPort;
  auto operator<=>(const Tuple &) const = default;
};

namespace flag {
inline constexpr std::uint8_t fin = 1, syn = 2, rst = 4, psh = 8, ack = 16;
}

inline constexpr std::size_t smallestFrame = 60;

std::uint16_t read16(View bytes, std::size_t at);
std::uint32_t read32(View bytes, std::size_t at);
void write16(Bytes &bytes, std::size_t at, std::uint32_t value);
void write32(Bytes &bytes, std::size_t at, std::uint32_t value);

/// Offsets of the headers by the frame's own fields, be it right or wrong.
struct Layout {
  explicit Layout(View frame);

  bool tagged;        // one 802.1Q tag
  std::size_t ip;     // first byte of the IP header
  std::size_t tcp;    // first byte of the TCP header, by the header length
  std::size_t end;    // behind the packet, by the total length
  bool hasIp, hasTcp; // twenty bytes of the header are in the frame
};

/// The ones' complement sum of bytes, folded (RFC 1071); `start` continues another.
std::uint32_t onesSum(View bytes, std::uint32_t start = 0);
/// Checksum of protocol 6 with `length` bytes, between the addresses of the IP header at `ip` (RFC 9293 3.1).
std::uint32_t pseudoHeaderSum(View frame, std::size_t ip, std::size_t length);
/// Makes the checksums of IP, and of TCP or ICMP, right, as far as the frame's own lengths leave something to sum.
void repairChecksums(Bytes &frame);

/// Fields of a segment to or from the core.
struct Segment {
  Tuple tuple;
  std::uint32_t sequence, acknowledgment;
  std::uint8_t flags;
  std::uint16_t window;
  View options, payload;
};

/// A whole frame from `from` to `to`, padded to the smallest; `tuple` in the core's words, `from` being its peer.
Bytes frameOf(const Segment &segment, const Station &from, const Station &to);
/// Fields of a frame whose headers are whole.
Segment segmentOf(View frame);
/// A frame of the core turned round, as if its receiver had sent it.
void turnRound(Bytes &frame);

} // namespace fuzz
