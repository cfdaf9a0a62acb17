// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "control_frames.h"

#include <algorithm>

#include "control.h"
#include "lib/packets/stations.h"

namespace fuzz {

namespace {

constexpr Station router{{2, 0, 0, 0, 0, 6}, 0x0a0000fe};
constexpr std::size_t ip = 14, icmp = 34;

Bytes drawnBytes(std::size_t length, Draw &draw) {
  Bytes bytes(length);
  for (auto &byte : bytes) byte = draw.byte();
  return bytes;
}

Station anybody(Draw &draw) {
  static constexpr std::array known{livePeer, livePeer, victim, silent, router};
  if (draw.chance(50)) return draw.pick(known);
  return {{2, 1, 0, 0, draw.byte(), draw.byte()}, 0x0a000000 | static_cast<std::uint32_t>(draw.below(1 << 16))};
}

Bytes icmpFrame(const Station &from, std::uint8_t type, std::uint8_t code, std::uint32_t rest, View data) {
  const std::size_t end = icmp + 8 + data.size();
  Bytes frame(std::max(end, smallestFrame));
  std::ranges::copy(core.mac, frame.begin());
  std::ranges::copy(from.mac, frame.begin() + 6);
  write16(frame, 12, 0x0800);
  frame[ip] = 0x45, frame[ip + 8] = 64, frame[ip + 9] = 1;
  write16(frame, ip + 2, static_cast<std::uint32_t>(end - ip));
  write32(frame, ip + 12, from.ip);
  write32(frame, ip + 16, core.ip);
  frame[icmp] = type, frame[icmp + 1] = code;
  write32(frame, icmp + 4, rest);
  std::ranges::copy(data, frame.begin() + icmp + 8);
  repairChecksums(frame);
  return frame;
}

/// The beginning of what the core sent: IP header and eight bytes of TCP.
Bytes reported(const Tuple &tuple, std::uint32_t sequence, std::uint32_t length) {
  Bytes packet(28);
  packet[0] = 0x45, packet[8] = 63, packet[9] = 6;
  write16(packet, 2, length);
  write16(packet, 6, 0x4000);
  write32(packet, 12, core.ip);
  write32(packet, 16, tuple.remoteIp);
  write16(packet, 20, tuple.localPort);
  write16(packet, 22, tuple.remotePort);
  write32(packet, 24, sequence);
  return packet;
}

} // namespace

Bytes drawnArp(Draw &draw) {
  static constexpr std::array<Mac, 3> targets{core.mac, Mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, attacker};
  static constexpr std::array<std::uint32_t, 7> odd{core.ip,    core.ip,    0,         0x7f000001,
                                                    0xe0000001, 0xffffffff, 0x00000005};
  Station from = anybody(draw), target{{}, draw.chance(60) ? core.ip : anybody(draw).ip};
  if (draw.chance(30)) from.mac = attacker; // says that it is somebody whom we know
  if (draw.chance(20)) from.ip = draw.pick(odd);
  if (draw.chance(10)) target.ip = from.ip; // gratuitous
  Bytes frame = arpPacket(draw.chance(60) ? 1 : 2, from, target, targets[draw.chance(5) ? 2 : draw.below(2)]);
  switch (draw.below(16)) {
  case 0: write16(frame, 14, draw.half()); break;
  case 1: write16(frame, 16, draw.half()); break;
  case 2: frame[18 + draw.below(2)] = draw.byte(); break;
  case 3: write16(frame, 20, static_cast<std::uint32_t>(draw.below(30))); break;
  case 4: frame.resize(draw.between(14, 45)); break;
  case 5: frame[22] |= 1; break;
  case 6: std::fill_n(frame.begin() + 22, 6, std::uint8_t{0}); break;
  case 7: std::ranges::copy(core.mac, frame.begin() + 22); break;
  default: break;
  }
  return frame;
}

Bytes echoRequest(const Station &from, View data, Draw &draw) { return icmpFrame(from, 8, 0, draw.word(), data); }

Bytes drawnEcho(std::size_t maxData, Draw &draw) {
  Station from = anybody(draw);
  if (draw.chance(5)) from.mac = draw.chance(50) ? core.mac : Mac{1, 0, 0x5e, 0, 0, 1};
  if (draw.chance(5)) from.ip = draw.chance(50) ? core.ip : static_cast<std::uint32_t>(draw.below(2)) * 0xe0000001;
  Bytes frame = echoRequest(from, drawnBytes(draw.below(maxData + 1), draw), draw);
  frame[ip + 1] = draw.byte(), frame[ip + 8] = draw.byte();
  write16(frame, ip + 4, draw.half());
  write16(frame, ip + 6, draw.chance(50) ? 0x4000 : draw.chance(95) ? 0 : 0x2000);
  if (draw.chance(10)) frame[icmp] = static_cast<std::uint8_t>(draw.below(20));
  if (draw.chance(5)) frame[icmp + 1] = draw.byte();
  repairChecksums(frame);
  if (draw.chance(5)) frame[icmp + 2] ^= static_cast<std::uint8_t>(1 << draw.below(8));
  return frame;
}

Bytes drawnError(const Tuple &tuple, std::uint32_t sequence, Draw &draw) {
  static constexpr std::array<std::uint16_t, 8> mtus{0, 1, 68, 551, 552, 576, 1400, 1500};
  static constexpr std::array<std::uint8_t, 6> types{3, 3, 3, 3, 11, 12};
  Bytes packet = reported(tuple, sequence, static_cast<std::uint32_t>(draw.chance(70) ? 1500 : draw.below(1600)));
  switch (draw.below(12)) {
  case 0: packet[0] = draw.byte(); break;
  case 1: packet[9] = draw.chance(50) ? 17 : draw.byte(); break;
  case 2: write16(packet, 6, draw.half()); break;
  case 3: write32(packet, 12, draw.word()); break;
  default: break;
  }
  const Bytes more = drawnBytes(draw.chance(50) ? 0 : draw.below(40), draw);
  packet.insert(packet.end(), more.begin(), more.end());
  if (draw.chance(5)) packet.resize(draw.below(28));
  const std::uint32_t mtu = draw.chance(90) ? draw.pick(mtus) : draw.half();
  Bytes frame = icmpFrame(anybody(draw), draw.pick(types), static_cast<std::uint8_t>(draw.below(7)), mtu, packet);
  if (draw.chance(5)) frame[icmp + 2] ^= static_cast<std::uint8_t>(1 << draw.below(8));
  return frame;
}

Bytes hardError(const Tuple &tuple, std::uint32_t sequence) {
  return icmpFrame(router, 3, 3, 0, reported(tuple, sequence, 1500));
}

} // namespace fuzz
