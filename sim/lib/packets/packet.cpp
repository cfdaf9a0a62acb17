// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "packet.h"

#include <algorithm>

namespace fuzz {

std::uint16_t read16(View bytes, std::size_t at) { return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]); }
std::uint32_t read32(View bytes, std::size_t at) {
  return std::uint32_t{read16(bytes, at)} << 16 | read16(bytes, at + 2);
}

void write16(Bytes &bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

void write32(Bytes &bytes, std::size_t at, std::uint32_t value) {
  write16(bytes, at, value >> 16);
  write16(bytes, at + 2, value);
}

Layout::Layout(View frame)
    : tagged(frame.size() >= 14 && read16(frame, 12) == 0x8100),
      ip(tagged ? 18 : 14),
      tcp(0),
      end(0),
      hasIp(frame.size() >= ip + 20),
      hasTcp(false) {
  if (!hasIp) return;
  tcp = ip + (frame[ip] & 15) * std::size_t{4};
  end = ip + read16(frame, ip + 2);
  hasTcp = frame.size() >= tcp + 20;
}

std::uint32_t onesSum(View bytes, std::uint32_t start) {
  std::uint64_t sum = start;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += read16(bytes, i);
  if (bytes.size() % 2 != 0) sum += std::uint32_t{bytes.back()} << 8;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t pseudoHeaderSum(View frame, std::size_t ip, std::size_t length) {
  return onesSum(frame.subspan(ip + 12, 8), static_cast<std::uint32_t>(6 + length));
}

void repairChecksums(Bytes &frame) {
  const Layout at(frame);
  if (!at.hasIp || read16(frame, at.ip - 2) != 0x0800) return;
  const std::size_t headerEnd = std::min(std::max(at.tcp, at.ip + 20), frame.size());
  write16(frame, at.ip + 10, 0);
  write16(frame, at.ip + 10, ~onesSum(View(frame).subspan(at.ip, headerEnd - at.ip)));
  if (frame.size() < at.tcp + 8 || at.end < at.tcp + 8) return;
  const std::size_t length = std::min(at.end, frame.size()) - at.tcp;
  if (frame[at.ip + 9] == 1) {
    write16(frame, at.tcp + 2, 0);
    write16(frame, at.tcp + 2, ~onesSum(View(frame).subspan(at.tcp, length)));
    return;
  }
  if (!at.hasTcp || length < 18) return;
  write16(frame, at.tcp + 16, 0);
  write16(frame, at.tcp + 16, ~onesSum(View(frame).subspan(at.tcp, length), pseudoHeaderSum(frame, at.ip, length)));
}

Bytes frameOf(const Segment &segment, const Station &from, const Station &to) {
  const std::size_t tcp = 34, payload = tcp + 20 + segment.options.size(), end = payload + segment.payload.size();
  Bytes frame(std::max(end, smallestFrame));
  std::ranges::copy(to.mac, frame.begin());
  std::ranges::copy(from.mac, frame.begin() + 6);
  write16(frame, 12, 0x0800);
  frame[14] = 0x45, frame[22] = 64, frame[23] = 6;
  write16(frame, 16, static_cast<std::uint32_t>(end - 14));
  write32(frame, 26, from.ip);
  write32(frame, 30, to.ip);
  write16(frame, tcp, segment.tuple.remotePort);
  write16(frame, tcp + 2, segment.tuple.localPort);
  write32(frame, tcp + 4, segment.sequence);
  write32(frame, tcp + 8, segment.acknowledgment);
  frame[tcp + 12] = static_cast<std::uint8_t>((payload - tcp) / 4 << 4);
  frame[tcp + 13] = segment.flags;
  write16(frame, tcp + 14, segment.window);
  std::ranges::copy(segment.options, frame.begin() + tcp + 20);
  std::ranges::copy(segment.payload, frame.begin() + static_cast<std::ptrdiff_t>(payload));
  repairChecksums(frame);
  return frame;
}

Segment segmentOf(View frame) {
  const Layout at(frame);
  const std::size_t payload = at.tcp + (frame[at.tcp + 12] >> 4) * std::size_t{4};
  return {{read32(frame, at.ip + 12), read16(frame, at.tcp), read16(frame, at.tcp + 2)},
          read32(frame, at.tcp + 4),
          read32(frame, at.tcp + 8),
          frame[at.tcp + 13],
          read16(frame, at.tcp + 14),
          frame.subspan(at.tcp + 20, payload - at.tcp - 20),
          frame.subspan(payload, at.end - payload)};
}

void turnRound(Bytes &frame) {
  const Layout at(frame);
  std::swap_ranges(frame.begin(), frame.begin() + 6, frame.begin() + 6);
  if (!at.hasTcp) return;
  const auto ip = frame.begin() + static_cast<std::ptrdiff_t>(at.ip),
             tcp = frame.begin() + static_cast<std::ptrdiff_t>(at.tcp);
  std::swap_ranges(ip + 12, ip + 16, ip + 16);
  std::swap_ranges(tcp, tcp + 2, tcp + 2);
}

} // namespace fuzz
