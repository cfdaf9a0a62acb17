// SPDX-License-Identifier: BSD-2-Clause-Patent
// TCP segments at the header tap's pins and as frames. The rules are the receiver's and the builder's (rtl/downbeat/rx,
// rtl/downbeat/tx); sums are not judged, since the bytes that they cover are not there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/core/model.h"

namespace downbeat {

/// Blocks of a SACK option, as bytes from the segment's acknowledgment number.
struct Sack {
  struct Block {
    bool valid;
    std::uint32_t left, right;
  };
  Block blocks[4];
  bool duplicate; // the first one names data that came twice
};

/// A segment as the core's port `received` takes it.
struct Segment {
  std::uint64_t remoteMac;
  std::uint32_t remoteIp, sequence, acknowledgment;
  std::uint16_t remotePort, localPort, window, urgentPointer, length;
  std::uint8_t flags; // in wire order
  std::uint8_t optionWords; // words of TCP options, 32 bits each
  bool hasMss, hasWindowScale;
  std::uint16_t mss;
  std::uint8_t windowScale;
  bool sackPermitted, hasTimestamps, marked;
  std::uint32_t timestampValue, timestampEcho;
  Sack sack;

  void drive(Pins &pins, Stamp stamp) const;
};

/// Result of parsing: a segment for the core, a frame of others, or one that is refused.
enum class Arrival { ours, others, refused };
Arrival parse(const std::uint8_t *bytes, std::size_t length, const Addresses &own, Segment &segment);

/// The segment that the core offers at `outgoing`, as a frame with the right sums over a payload of zeros. Returns the
/// payload's bytes.
std::size_t build(const Pins &pins, const Addresses &own, Frame &frame);
void setDestination(Frame &frame, std::uint64_t mac);

} // namespace downbeat
