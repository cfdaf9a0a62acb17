// SPDX-License-Identifier: BSD-2-Clause-Patent
// Expected result of a frame, by the standards and docs/reference/rx.md, read byte by byte: the expectation that the
// core's counters are compared with. Shares nothing with the RTL.
#pragma once

#include "lib/packets/packet.h"

namespace fuzz {

/// Causes in the order in which they count; names as the core's counters have them.
enum class Outcome {
  badFrame,
  oversize,
  ipVersion,
  ipHeaderLength,
  ipLength,
  truncated,
  ipChecksum,
  fragment,
  sourceRoute,
  tcpHeaderLength,
  tcpChecksum,
  options,
  invalidSource,
  land,
  portZero,
  flags,
  bypass,       // not ours: handed on, or bypassOverflow
  control,      // ARP or ICMP that we answer, nobody else: control.h
  both,         // ARP or ICMP that somebody else may wait for too
  segment,      // a good segment without payload and FIN
  heldSegment,  // one that needs a slot: it gets one, or noSlot
  /// Wrong, but no standard says by which cause first:
  shortFragment, // ends inside its own IP header, whose checksum then means nothing: ipChecksum or fragment
  maybeRoute // behind an IP option of length 0 or 1 there may be a source route: that, or what comes after it in the
             /// order
};
inline constexpr std::size_t outcomes = static_cast<std::size_t>(Outcome::maybeRoute) + 1;
inline constexpr std::array<const char *, outcomes> outcomeNames{
    "badFrame",      "oversize", "ipVersion",   "ipHeaderLength",  "ipLength",    "truncated",
    "ipChecksum",    "fragment", "sourceRoute", "tcpHeaderLength", "tcpChecksum", "options",
    "invalidSource", "land",     "portZero",    "flags",           "bypass",      "control",
    "both",          "segment",  "heldSegment", "shortFragment",   "maybeRoute"};

/// `damaged`: the MAC found the FCS wrong. `largest`: bytes of an untagged frame without FCS.
Outcome judge(View frame, bool damaged, const Station &own, std::size_t largest);

inline bool isControl(Outcome outcome) { return outcome == Outcome::control || outcome == Outcome::both; }
inline bool isSegment(Outcome outcome) { return outcome == Outcome::segment || outcome == Outcome::heldSegment; }

} // namespace fuzz
