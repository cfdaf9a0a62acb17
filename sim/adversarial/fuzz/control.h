// SPDX-License-Identifier: BSD-2-Clause-Patent
// Expected results of ARP and ICMP, by RFC 826, 5227, 792, 1122, 1191, 5927 and docs/reference/neighbour.md; and the
// right answers.
#pragma once

#include "lib/packets/packet.h"

namespace fuzz {

/// Causes first, in the order in which they count.
enum class Control {
  arpMalformed,
  icmpLength,
  icmpIpChecksum,
  icmpChecksum,
  icmpSource,
  icmpIrrelevant,
  conflict,    // somebody else says that he has our address
  arpRequest, // for us: a reply
  arpOther,    // perhaps learnt from
  echo,        // a reply
  report       // about a segment of ours: the connection's, if there is one
};
inline constexpr std::size_t controls = static_cast<std::size_t>(Control::report) + 1;
/// Counters of all up to `conflict`.
inline constexpr std::array controlCounters{
    "neighbour_arpMalformed", "neighbour_icmp_length",     "neighbour_icmp_ipChecksum", "neighbour_icmp_checksum",
    "neighbour_icmp_source",  "neighbour_icmp_irrelevant", "neighbour_conflicts"};

/// ARP or ICMP that the core takes; of a whole frame.
bool isControl(View frame, const Station &own);
/// Nobody else gets it.
bool isRepliedHere(View frame, const Station &own);
Control judgeControl(View frame, const Station &own);

/// An ICMP error: its type and code, and the place of the numbers of the segment that it quotes.
inline constexpr std::size_t reportedIp = 42, reportedTcp = 62;
inline bool saysTooBig(View frame) { return frame[34] == 3 && frame[35] == 4; }

/// Padded to the smallest frame.
Bytes arpPacket(std::uint16_t operation, const Station &from, const Station &target, const Mac &to);
Bytes arpReplyTo(View request, const Station &own);
/// The packet alone.
Bytes echoReplyTo(View request, const Station &own);
/// `frame` says what `packet` says: two ways to write a checksum are one.
bool isSameIcmp(View frame, View packet);

} // namespace fuzz
