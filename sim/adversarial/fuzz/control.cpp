// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "control.h"

#include <algorithm>

namespace fuzz {

namespace {

constexpr std::size_t ip = 14, icmp = 34; // taken untagged and without IP options only
constexpr Mac everybody{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

bool isFor(View frame, const Mac &mac) { return frame.size() >= 6 && std::ranges::equal(frame.first(6), mac); }
bool isArp(View frame) { return frame.size() >= 14 && read16(frame, 12) == 0x0806; }

bool isTakenIcmp(View frame, const Station &own) {
  if (frame.size() <= icmp || !isFor(frame, own.mac) || read16(frame, 12) != 0x0800) return false;
  if ((frame[ip] & 15) != 5 || (read16(frame, ip + 6) & 0x3fff) != 0) return false;
  if (frame[ip + 9] != 1 || read32(frame, ip + 16) != own.ip) return false;
  const std::uint8_t type = frame[icmp];
  return type == 8 || type == 3 || type == 11 || type == 12;
}

bool isHost(View mac) { return (mac[0] & 1) == 0; }

Control judgeArp(View frame, const Station &own) {
  static constexpr std::array<std::uint8_t, 7> head{0, 1, 8, 0, 6, 4, 0};
  if (frame.size() < 42 || !std::ranges::equal(frame.subspan(14, 7), head) || (frame[21] != 1 && frame[21] != 2))
    return Control::arpMalformed;
  const View mac = frame.subspan(22, 6);
  const std::uint32_t sender = read32(frame, 28), network = sender >> 24;
  if (!isHost(mac) || std::ranges::all_of(mac, [](auto byte) { return byte == 0; }) || network == 127 || network >= 224)
    return Control::arpMalformed;
  if (std::ranges::equal(mac, own.mac)) return Control::arpOther; // our own, come back
  if (sender == own.ip) return Control::conflict;                 // RFC 5227 2.4
  return frame[21] == 1 && read32(frame, 38) == own.ip ? Control::arpRequest : Control::arpOther;
}

/// RFC 1191 7.1: the MTU that a router means that says none.
std::uint32_t plateauBelow(std::uint32_t length) {
  for (const std::uint32_t plateau : {8166u, 4352u, 2002u, 1492u, 1006u})
    if (plateau < length) return plateau;
  return 552;
}

bool isRelevant(View frame, const Station &own) {
  const bool whole = (read16(frame, reportedIp + 6) & 0x1fff) == 0; // or a packet's first part
  if (frame[icmp + 1] > 15) return false; // no type has so many codes
  if (frame[reportedIp] != 0x45 || frame[reportedIp + 9] != 6 || !whole || read32(frame, reportedIp + 12) != own.ip)
    return false;
  if (!saysTooBig(frame)) return true;
  const std::uint32_t mtu = read16(frame, 40), length = read16(frame, reportedIp + 2);
  return (mtu == 0 ? plateauBelow(length) : mtu) < length; // RFC 5927 7.2
}

Control judgeIcmp(View frame, const Station &own) {
  const bool isEcho = frame[icmp] == 8;
  const std::size_t total = read16(frame, ip + 2);
  if (frame[ip] != 0x45 || total < (isEcho ? 28 : 56) || frame.size() < ip + total) return Control::icmpLength;
  if (onesSum(frame.subspan(ip, 20)) != 0xffff) return Control::icmpIpChecksum;
  if (onesSum(frame.subspan(icmp, total - 20)) != 0xffff) return Control::icmpChecksum;
  const std::uint32_t source = read32(frame, ip + 12), network = source >> 24;
  const View mac = frame.subspan(6, 6);
  if (network == 0 || network == 127 || network >= 224 || source == own.ip || !isHost(mac) ||
      std::ranges::equal(mac, own.mac))
    return Control::icmpSource; // RFC 1122 3.2.1.3
  if (isEcho) return Control::echo;
  return isRelevant(frame, own) ? Control::report : Control::icmpIrrelevant;
}

} // namespace

bool isControl(View frame, const Station &own) {
  return (isArp(frame) && (isFor(frame, own.mac) || isFor(frame, everybody))) || isTakenIcmp(frame, own);
}

bool isRepliedHere(View frame, const Station &own) {
  if (isArp(frame)) return frame.size() >= 42 && read16(frame, 20) == 1 && read32(frame, 38) == own.ip;
  return frame[icmp] == 8;
}

Control judgeControl(View frame, const Station &own) {
  return isArp(frame) ? judgeArp(frame, own) : judgeIcmp(frame, own);
}

Bytes arpPacket(std::uint16_t operation, const Station &from, const Station &target, const Mac &to) {
  static constexpr std::array<std::uint8_t, 8> head{8, 6, 0, 1, 8, 0, 6, 4};
  Bytes frame(smallestFrame);
  std::ranges::copy(to, frame.begin());
  std::ranges::copy(from.mac, frame.begin() + 6);
  std::ranges::copy(head, frame.begin() + 12);
  write16(frame, 20, operation);
  std::ranges::copy(from.mac, frame.begin() + 22);
  write32(frame, 28, from.ip);
  std::ranges::copy(target.mac, frame.begin() + 32);
  write32(frame, 38, target.ip);
  return frame;
}

Bytes arpReplyTo(View request, const Station &own) {
  Station sender{{}, read32(request, 28)};
  std::ranges::copy(request.subspan(22, 6), sender.mac.begin());
  return arpPacket(2, own, sender, sender.mac);
}

Bytes echoReplyTo(View request, const Station &own) {
  const View packet = request.first(ip + read16(request, ip + 2));
  Bytes reply(packet.begin(), packet.end());
  std::copy_n(request.begin() + 6, 6, reply.begin());
  std::ranges::copy(own.mac, reply.begin() + 6);
  write32(reply, ip + 12, own.ip);
  write32(reply, ip + 16, read32(request, ip + 12));
  reply[ip + 8] = 64;
  reply[icmp] = 0;
  repairChecksums(reply);
  return reply;
}

bool isSameIcmp(View frame, View packet) {
  if (frame.size() < packet.size() || onesSum(frame.subspan(ip, 20)) != 0xffff) return false;
  const View got = frame.first(packet.size());
  const auto same = [&](std::size_t from, std::size_t to) {
    return std::ranges::equal(got.subspan(from, to - from), packet.subspan(from, to - from));
  };
  return onesSum(got.subspan(icmp)) == 0xffff && same(0, ip + 10) && same(ip + 12, icmp + 2) &&
         same(icmp + 4, packet.size());
}

} // namespace fuzz
