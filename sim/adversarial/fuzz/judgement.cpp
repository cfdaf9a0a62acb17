// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "judgement.h"

#include <algorithm>

#include "control.h"

namespace fuzz {

namespace {

constexpr bool routes(std::uint8_t kind) { return kind == 131 || kind == 137; } // RFC 791 3.1: loose and strict

struct Walk {
  bool malformed = false, sourceRoute = false, maybeRoute = false;
};

/// RFC 791 3.1 and RFC 9293 3.1: 0 ends the list, 1 is one byte, all others have a length that counts kind and length.
Walk walk(View options) {
  Walk found;
  for (std::size_t at = 0; at < options.size() && options[at] != 0;) {
    const std::uint8_t kind = options[at];
    if (kind == 1) {
      ++at;
      continue;
    }
    found.sourceRoute = found.sourceRoute || routes(kind);
    if (at + 1 == options.size() || options[at + 1] < 2 || at + options[at + 1] > options.size()) {
      found.malformed = true;
      found.maybeRoute = std::ranges::any_of(options.subspan(at), routes);
      return found;
    }
    at += options[at + 1];
  }
  return found;
}

bool isOurs(View frame, const Layout &at, const Station &own) {
  if (at.tagged && at.hasIp && (read16(frame, 14) & 0xfff) != 0) return false; // a frame of a VLAN
  return std::ranges::equal(frame.first(std::min<std::size_t>(frame.size(), 6)), own.mac) && at.hasIp &&
         read16(frame, at.ip - 2) == 0x0800 && frame[at.ip + 9] == 6 && read32(frame, at.ip + 16) == own.ip;
}

} // namespace

Outcome judge(View frame, bool damaged, const Station &own, std::size_t largest) {
  const Layout at(frame);
  if (damaged) return Outcome::badFrame;
  if (frame.size() > largest + (at.tagged ? 4 : 0)) return Outcome::oversize;
  if (!isOurs(frame, at, own)) {
    if (!isControl(frame, own)) return Outcome::bypass;
    return isRepliedHere(frame, own) ? Outcome::control : Outcome::both;
  }

  const std::size_t ipBytes = at.tcp - at.ip, total = at.end - at.ip;
  const bool fragment = (read16(frame, at.ip + 6) & 0x3fff) != 0;
  if (frame[at.ip] >> 4 != 4) return Outcome::ipVersion;
  if (ipBytes < 20) return Outcome::ipHeaderLength;
  if (total < ipBytes + 20 && !fragment) return Outcome::ipLength;
  if (frame.size() < at.end) return Outcome::truncated;
  if (total < ipBytes) return Outcome::shortFragment;
  if (onesSum(frame.subspan(at.ip, ipBytes)) != 0xffff) return Outcome::ipChecksum;
  if (fragment) return Outcome::fragment;
  const Walk ipOptions = walk(frame.subspan(at.ip + 20, ipBytes - 20));
  if (ipOptions.sourceRoute) return Outcome::sourceRoute;
  if (ipOptions.maybeRoute) return Outcome::maybeRoute;

  const std::size_t tcpBytes = total - ipBytes, headerBytes = (frame[at.tcp + 12] >> 4) * std::size_t{4};
  if (headerBytes < 20 || tcpBytes < headerBytes) return Outcome::tcpHeaderLength;
  if (onesSum(frame.subspan(at.tcp, tcpBytes), pseudoHeaderSum(frame, at.ip, tcpBytes)) != 0xffff)
    return Outcome::tcpChecksum;
  if (ipOptions.malformed || walk(frame.subspan(at.tcp + 20, headerBytes - 20)).malformed) return Outcome::options;

  const std::uint32_t source = read32(frame, at.ip + 12), network = source >> 24;
  const bool samePort = read16(frame, at.tcp) == read16(frame, at.tcp + 2);
  const bool ownMac = std::ranges::equal(frame.subspan(6, 6), own.mac);
  if (network == 0 || network == 127 || network >= 224 || (frame[6] & 1) != 0 || ownMac ||
      (source == own.ip && !samePort))
    return Outcome::invalidSource; // RFC 1122 3.2.1.3
  if (source == own.ip) return Outcome::land;
  if (read16(frame, at.tcp) == 0 || read16(frame, at.tcp + 2) == 0) return Outcome::portZero;
  const std::uint8_t flags = frame[at.tcp + 13];
  if ((flags & flag::syn) != 0 && (flags & (flag::fin | flag::rst)) != 0) return Outcome::flags;
  return tcpBytes > headerBytes || (flags & flag::fin) != 0 ? Outcome::heldSegment : Outcome::segment;
}

} // namespace fuzz
