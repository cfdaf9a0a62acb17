// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "mutations.h"

#include <algorithm>

#include "lib/packets/packet.h"

namespace fuzz {

namespace {

constexpr std::size_t beyondAnyFrame = 9600; // more than a slot, and than the beat counters hold

/// Lets `change` at a frame whose TCP header is there.
template <typename Change> void inTcp(Bytes &frame, Change change) {
  if (const Layout at(frame); at.hasTcp) change(at);
}
template <typename Change> void inIp(Bytes &frame, Change change) {
  if (const Layout at(frame); at.hasIp) change(at);
}

void insert(Bytes &frame, std::size_t at, View bytes) {
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(std::min(at, frame.size())), bytes.begin(), bytes.end());
}

Bytes drawn(std::size_t length, Draw &draw) {
  Bytes bytes(length);
  for (auto &byte : bytes) byte = draw.byte();
  return bytes;
}

void addToLength(Bytes &frame, const Layout &at, std::size_t bytes) {
  write16(frame, at.ip + 2, static_cast<std::uint32_t>(at.end - at.ip + bytes));
}

/// Option bytes, right and wrong: kinds and lengths that matter.
Bytes optionList(bool tcp, Draw &draw) {
  Bytes list;
  const std::size_t length = 4 * draw.between(1, 10);
  while (list.size() < length) {
    switch (draw.below(tcp ? 9 : 5)) {
    case 0: list.push_back(static_cast<std::uint8_t>(draw.chance(80))); break; // NOP, or the end
    case 1: list.insert(list.end(), {draw.byte(), static_cast<std::uint8_t>(draw.below(3))}); break;
    case 2: list.insert(list.end(), {draw.byte(), draw.byte()}); break;
    case 3: list.insert(list.end(), {static_cast<std::uint8_t>(tcp ? 254 : draw.chance(50) ? 131 : 137), 3, 4}); break;
    case 4: list.insert(list.end(), {static_cast<std::uint8_t>(tcp ? 8 : 7), 4, draw.byte(), draw.byte()}); break;
    case 5: list.insert(list.end(), {2, 4, static_cast<std::uint8_t>(draw.byte() * draw.below(2)), draw.byte()}); break;
    case 6: list.insert(list.end(), {3, 3, draw.byte()}); break;
    case 7: list.insert(list.end(), {1, 3, 3, static_cast<std::uint8_t>(draw.below(15))}); break;
    default: list.insert(list.end(), {2, 4, 5, 180}); break;
    }
  }
  // An option that the end cuts off is wanted sometimes only.
  list.resize(length);
  if (draw.chance(60))
    std::fill(list.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(length, 4)), list.end(), std::uint8_t{1});
  return list;
}

// ---- the kinds

void flipBits(Bytes &frame, Draw &draw) {
  for (std::uint64_t flips = draw.between(1, 6); flips > 0; --flips)
    frame[draw.below(frame.size())] ^= static_cast<std::uint8_t>(1 << draw.below(8));
}
void flipHeaderBit(Bytes &frame, Draw &draw) {
  frame[draw.below(std::min<std::size_t>(frame.size(), 58))] ^= static_cast<std::uint8_t>(1 << draw.below(8));
}
void setBytes(Bytes &frame, Draw &draw) {
  const std::size_t from = draw.below(frame.size()), to = std::min(from + draw.between(1, 8), frame.size());
  for (std::size_t at = from; at < to; ++at) frame[at] = draw.byte();
}
void truncate(Bytes &frame, Draw &draw) { frame.resize(draw.between(1, frame.size())); }
void pad(Bytes &frame, Draw &draw) { insert(frame, frame.size(), drawn(draw.between(1, 40), draw)); }
void lengthenFar(Bytes &frame, Draw &draw) {
  frame.resize(draw.chance(70) ? draw.between(1500, 1540) : draw.between(1541, beyondAnyFrame), draw.byte());
}
void lengthenPayload(Bytes &frame, Draw &draw) {
  inIp(frame, [&](const Layout &at) {
    const Bytes more = drawn(draw.between(1, 30), draw);
    insert(frame, at.end, more);
    addToLength(frame, at, more.size());
  });
}
void ipVersion(Bytes &frame, Draw &draw) {
  inIp(frame,
       [&](const Layout &at) { frame[at.ip] = static_cast<std::uint8_t>((frame[at.ip] & 15) | draw.below(16) << 4); });
}
void ipHeaderLength(Bytes &frame, Draw &draw) {
  inIp(frame,
       [&](const Layout &at) { frame[at.ip] = static_cast<std::uint8_t>((frame[at.ip] & 0xf0) | draw.below(16)); });
}
void totalLength(Bytes &frame, Draw &draw) {
  inIp(frame, [&](const Layout &at) {
    const auto near = static_cast<std::uint32_t>(at.end - at.ip + draw.below(9) - 4);
    write16(frame, at.ip + 2,
            draw.chance(70)   ? near
            : draw.chance(50) ? static_cast<std::uint32_t>(draw.below(70))
                              : draw.half());
  });
}
void fragmentField(Bytes &frame, Draw &draw) {
  inIp(frame,
       [&](const Layout &at) { write16(frame, at.ip + 6, draw.chance(50) ? 1u << draw.below(16) : draw.half()); });
}
void timeToLive(Bytes &frame, Draw &draw) {
  inIp(frame, [&](const Layout &at) {
    frame[at.ip + 8] = static_cast<std::uint8_t>(draw.chance(50) ? draw.below(2) : draw.byte());
  });
}
void protocol(Bytes &frame, Draw &draw) {
  inIp(frame, [&](const Layout &at) { frame[at.ip + 9] = draw.chance(50) ? 17 : draw.chance(50) ? 1 : draw.byte(); });
}
void source(Bytes &frame, Draw &draw) {
  static constexpr std::array<std::uint32_t, 8> sources{0,          1,          0x0affffff, 0x7f000001,
                                                        0xe0000001, 0xefffffff, 0xf0000001, 0xffffffff};
  inIp(frame, [&](const Layout &at) { write32(frame, at.ip + 12, draw.pick(sources)); });
}
void land(Bytes &frame, Draw &draw) {
  inTcp(frame, [&](const Layout &at) {
    write32(frame, at.ip + 12, read32(frame, at.ip + 16));
    if (draw.chance(70)) write16(frame, at.tcp, read16(frame, at.tcp + 2));
  });
}
void addresses(Bytes &frame, Draw &draw) {
  switch (draw.below(5)) {
  case 0: frame[6 % frame.size()] |= 1; break;
  case 1: std::fill_n(frame.begin(), std::min<std::size_t>(frame.size(), 6), std::uint8_t{0xff}); break;
  case 2: frame[0] |= 1; break;
  case 3:
    if (frame.size() >= 12) std::copy_n(frame.begin(), 6, frame.begin() + 6);
    break;
  default: inIp(frame, [&](const Layout &at) { write32(frame, at.ip + 16, draw.word()); });
  }
}
void tag(Bytes &frame, Draw &draw) {
  if (frame.size() < 14) return;
  for (std::uint64_t tags = draw.chance(85) ? 1 : 2; tags > 0; --tags) {
    std::array<std::uint8_t, 4> tagBytes{std::uint8_t{0x81}, 0, draw.byte(), draw.byte()};
    if (draw.chance(50)) tagBytes[2] &= 0xf0, tagBytes[3] = 0; // a priority, and no VLAN
    insert(frame, 12, tagBytes);
  }
}
void etherType(Bytes &frame, Draw &draw) {
  static constexpr std::array<std::uint16_t, 7> types{0x0806, 0x86dd, 0x88f7, 0x88a8, 0x8808, 0x0000, 0x05dc};
  if (frame.size() >= 14) write16(frame, 12, draw.chance(70) ? draw.pick(types) : draw.half());
}
void arp(Bytes &frame, Draw &draw) {
  if (frame.size() < smallestFrame) return;
  static constexpr std::array<std::uint8_t, 8> head{0, 1, 8, 0, 6, 4, 0, 1};
  write16(frame, 12, 0x0806);
  std::ranges::copy(head, frame.begin() + 14);
  frame[21] = static_cast<std::uint8_t>(draw.below(4));
  if (draw.chance(50)) std::fill_n(frame.begin(), 6, std::uint8_t{0xff});
}
void ipOptions(Bytes &frame, Draw &draw) {
  inIp(frame, [&](const Layout &at) {
    const Bytes list = optionList(false, draw);
    insert(frame, at.ip + 20, list);
    frame[at.ip] = static_cast<std::uint8_t>(0x40 | std::min<std::size_t>(5 + list.size() / 4, 15));
    addToLength(frame, at, list.size());
  });
}
void dataOffset(Bytes &frame, Draw &draw) {
  inTcp(frame,
        [&](const Layout &at) { frame[at.tcp + 12] = static_cast<std::uint8_t>(draw.below(16) << 4 | draw.below(2)); });
}
void tcpOptions(Bytes &frame, Draw &draw) {
  inTcp(frame, [&](const Layout &at) {
    const Bytes list = optionList(true, draw);
    insert(frame, at.tcp + 20, list);
    frame[at.tcp + 12] = static_cast<std::uint8_t>((5 + list.size() / 4) << 4);
    if (draw.chance(60)) frame[at.tcp + 13] = flag::syn;
    addToLength(frame, at, list.size());
  });
}
void flags(Bytes &frame, Draw &draw) {
  static constexpr std::array<std::uint8_t, 10> known{0, 0x3f, 0xff, 3, 6, 0x29, flag::rst, 0x14, 0x11, 0x12};
  inTcp(frame, [&](const Layout &at) { frame[at.tcp + 13] = draw.chance(60) ? draw.pick(known) : draw.byte(); });
}
void numbers(Bytes &frame, Draw &draw) {
  static constexpr std::array<std::uint32_t, 10> steps{0,     1,       0xffffffff,    1460,       65535,
                                                       65536, 1 << 20, (1 << 20) + 1, 0x7fffffff, 0x80000000};
  inTcp(frame, [&](const Layout &at) {
    const std::size_t field = at.tcp + (draw.chance(50) ? 4 : 8);
    write32(frame, field,
            draw.chance(80) ? read32(frame, field) + draw.pick(steps) * (draw.chance(50) ? 1 : 0xffffffff)
                            : draw.word());
  });
}
void window(Bytes &frame, Draw &draw) {
  inTcp(frame, [&](const Layout &at) { write16(frame, at.tcp + 14, draw.chance(50) ? draw.below(3) : draw.half()); });
}
void ports(Bytes &frame, Draw &draw) {
  inTcp(frame, [&](const Layout &at) {
    write16(frame, at.tcp + (draw.chance(50) ? 2 : 0), draw.chance(50) ? 0 : draw.half());
  });
}
void nothing(Bytes &, Draw &) {}

constexpr Mutation all[] = {
    {"flip_bits", flipBits, 4},
    {"flip_header_bit", flipHeaderBit, 8},
    {"set_bytes", setBytes, 3},
    {"truncate", truncate, 4},
    {"pad", pad, 3},
    {"lengthen_far", lengthenFar, 1},
    {"lengthen_payload", lengthenPayload, 4},
    {"ip_version", ipVersion, 2},
    {"ip_header_length", ipHeaderLength, 3},
    {"total_length", totalLength, 4},
    {"fragment", fragmentField, 2},
    {"time_to_live", timeToLive, 1},
    {"protocol", protocol, 1},
    {"source", source, 2},
    {"land", land, 2},
    {"addresses", addresses, 2},
    {"tag", tag, 3},
    {"ether_type", etherType, 2},
    {"arp", arp, 1},
    {"ip_options", ipOptions, 4},
    {"data_offset", dataOffset, 3},
    {"tcp_options", tcpOptions, 7},
    {"flags", flags, 9},
    {"numbers", numbers, 9},
    {"window", window, 4},
    {"ports", ports, 2},
    {"replay", nothing, 3},
};

} // namespace

std::span<const Mutation> mutations() { return all; }

} // namespace fuzz
