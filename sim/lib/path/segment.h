// SPDX-License-Identifier: BSD-2-Clause-Patent
// A TCP segment as it stands in an IPv4 packet, read by someone who only watches (RFC 791, 9293).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

struct Segment {
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint32_t length = 0; // in sequence space: payload, SYN and FIN
  bool ack = false, rst = false;
  std::uint32_t end() const { return sequence + length; }

  /// Nothing unless lengths and both checksums are right.
  static std::optional<Segment> of(std::span<const std::uint8_t> packet) {
    constexpr std::size_t ipHeader = 20, tcpHeader = 20;
    constexpr std::uint8_t tcp = 6;
    if (packet.size() < ipHeader || packet[0] >> 4 != 4) return {};
    const std::size_t ip = 4 * (packet[0] & 15u), total = word(packet, 2);
    if (ip < ipHeader || total < ip + tcpHeader || total > packet.size()) return {};
    if (sum(packet.first(ip), 0) != 0xffff || packet[9] != tcp) return {};
    const auto inner = packet.subspan(ip, total - ip);
    const auto pseudo = static_cast<std::uint32_t>(tcp + inner.size()) + sum(packet.subspan(12, 8), 0);
    if (sum(inner, pseudo) != 0xffff) return {};
    const std::size_t header = 4 * (inner[12] >> 4);
    if (header < tcpHeader || header > inner.size()) return {};
    const std::uint8_t flags = inner[13];
    const auto payload = static_cast<std::uint32_t>(inner.size() - header);
    return Segment{number(inner, 4), number(inner, 8), payload + (flags >> 1 & 1) + (flags & 1), (flags & 16) != 0,
                   (flags & 4) != 0};
  }

private:
  static std::uint32_t word(std::span<const std::uint8_t> bytes, std::size_t at) {
    return bytes[at] << 8u | bytes[at + 1];
  }
  static std::uint32_t number(std::span<const std::uint8_t> bytes, std::size_t at) {
    return word(bytes, at) << 16 | word(bytes, at + 2);
  }
  /// The folded one's complement sum (RFC 1071).
  static std::uint32_t sum(std::span<const std::uint8_t> bytes, std::uint32_t start) {
    std::uint64_t all = start;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) all += word(bytes, at);
    if (bytes.size() % 2 != 0) all += bytes.back() << 8u;
    while (all >> 16 != 0) all = (all & 0xffff) + (all >> 16);
    return static_cast<std::uint32_t>(all);
  }
};
