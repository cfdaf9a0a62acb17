// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "segment.h"

namespace downbeat {

namespace {

constexpr std::size_t ethernet = 14, tag = 4, ipv4 = 20, tcp = 20;
constexpr std::uint16_t typeTag = 0x8100, typeIpv4 = 0x0800, vlan = 0x0fff;
constexpr std::uint8_t protocolTcp = 6;
constexpr std::uint16_t dontFragment = 0x4000, fragments = 0x3fff;
constexpr std::uint8_t fin = 1, syn = 2, rst = 4, ack = 16;
constexpr std::uint8_t endOfOptions = 0, noOperation = 1, mss = 2, windowScale = 3, sackPermitted = 4, sack = 5,
                       timestamps = 8;
constexpr std::uint16_t smallestMss = 64;
constexpr std::uint8_t largestWindowScale = 14;
constexpr std::uint8_t ecnMask = 3, congestionExperienced = 3, ecnCapable = 2;
constexpr std::uint32_t offsetMask = 2 * DOWNBEAT_SEND_BUFFER_BYTES - 1; // bits of an offset that the core's pins have

std::uint16_t read16(const std::uint8_t *at) { return static_cast<std::uint16_t>(at[0] << 8 | at[1]); }
std::uint32_t read32(const std::uint8_t *at) { return std::uint32_t{read16(at)} << 16 | read16(at + 2); }
std::uint64_t read48(const std::uint8_t *at) { return std::uint64_t{read16(at)} << 32 | read32(at + 2); }

/// Writes big-endian numbers one behind the other.
class Writer {
public:
  explicit Writer(std::uint8_t *at) : at_(at) {}
  Writer &put(std::uint64_t value, int bytes) {
    for (; bytes > 0; --bytes) *at_++ = static_cast<std::uint8_t>(value >> 8 * (bytes - 1));
    return *this;
  }
  std::uint8_t *end() const { return at_; }

private:
  std::uint8_t *at_;
};

/// RFC 2018 3 and RFC 2883 4, for a send buffer behind the acknowledgment number.
Sack parseSack(const std::uint8_t *at, std::size_t count, std::uint32_t acknowledgment) {
  Sack sack{};
  auto &blocks = sack.blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t left = read32(at + 8 * i) - acknowledgment, right = read32(at + 8 * i + 4) - acknowledgment;
    const bool ordered = static_cast<std::int32_t>(right - left) > 0;
    blocks[i] = {ordered && left != 0 && left < right && right <= DOWNBEAT_SEND_BUFFER_BYTES, left, right};
    if (i == 0) sack.duplicate = ordered && static_cast<std::int32_t>(right) <= 0;
  }
  if (blocks[0].valid && blocks[1].valid && blocks[1].left <= blocks[0].left && blocks[0].right <= blocks[1].right) {
    sack.duplicate = true;
    blocks[0].valid = false;
  }
  return sack;
}

/// False: an option of length 0 or 1, or past the header. Of two alike the last one counts.
bool parseOptions(const std::uint8_t *at, const std::uint8_t *end, Segment &segment) {
  const bool onSyn = segment.flags & syn;
  while (at < end && *at != endOfOptions) {
    if (*at == noOperation) {
      ++at;
      continue;
    }
    if (end - at < 2 || at[1] < 2 || at[1] > end - at) return false;
    if (onSyn && at[0] == mss && at[1] == 4) {
      segment.hasMss = true;
      segment.mss = std::max(read16(at + 2), smallestMss);
    } else if (onSyn && at[0] == windowScale && at[1] == 3) {
      segment.hasWindowScale = true;
      segment.windowScale = std::min(at[2], largestWindowScale);
    } else if (onSyn && at[0] == sackPermitted && at[1] == 2) {
      segment.sackPermitted = true;
    } else if (at[0] == timestamps && at[1] == 10) {
      segment.hasTimestamps = true;
      segment.timestampValue = read32(at + 2);
      segment.timestampEcho = read32(at + 6);
    } else if (at[0] == sack && (at[1] == 10 || at[1] == 18 || at[1] == 26 || at[1] == 34) && !onSyn &&
               segment.flags & ack) {
      segment.sack = parseSack(at + 2, at[1] / 8u, segment.acknowledgment);
    }
    at += at[1];
  }
  return true;
}

} // namespace

Arrival parse(const std::uint8_t *bytes, std::size_t length, const Addresses &own, Segment &segment) {
  if (length < ethernet + ipv4 || read48(bytes) != own.mac) return Arrival::others;
  const bool tagged = read16(bytes + 12) == typeTag;
  if (tagged && read16(bytes + ethernet) & vlan) return Arrival::others;
  const std::uint8_t *ip = bytes + ethernet + (tagged ? tag : 0), *end = bytes + length;
  if (read16(ip - 2) != typeIpv4 || end - ip < static_cast<std::ptrdiff_t>(ipv4)) return Arrival::others;
  if (ip[9] != protocolTcp || read32(ip + 16) != own.ip) return Arrival::others;

  const std::size_t ipHeader = (ip[0] & 15) * std::size_t{4}, total = read16(ip + 2);
  if (ip[0] >> 4 != 4 || ipHeader < ipv4 || total < ipHeader + tcp) return Arrival::refused;
  if (static_cast<std::ptrdiff_t>(total) > end - ip || read16(ip + 6) & fragments) return Arrival::refused;
  const std::uint8_t *header = ip + ipHeader;
  const std::size_t tcpHeader = (header[12] >> 4) * std::size_t{4};
  if (tcpHeader < tcp || total < ipHeader + tcpHeader) return Arrival::refused;

  segment = {};
  segment.remoteMac = read48(bytes + 6);
  segment.remoteIp = read32(ip + 12);
  segment.remotePort = read16(header);
  segment.localPort = read16(header + 2);
  segment.sequence = read32(header + 4);
  segment.acknowledgment = read32(header + 8);
  segment.flags = header[13];
  segment.optionWords = static_cast<std::uint8_t>((tcpHeader - tcp) / 4);
  segment.window = read16(header + 14);
  segment.urgentPointer = read16(header + 18);
  segment.marked = (ip[1] & ecnMask) == congestionExperienced;
  segment.length = static_cast<std::uint16_t>(total - ipHeader - tcpHeader);
  const bool contradicts = segment.flags & syn && segment.flags & (fin | rst);
  if (contradicts || segment.remotePort == 0 || segment.localPort == 0 || segment.remoteIp == own.ip)
    return Arrival::refused;
  return parseOptions(header + tcp, header + tcpHeader, segment) ? Arrival::ours : Arrival::refused;
}

void Segment::drive(Pins &pins, Stamp stamp) const {
  pins.received_payload_remoteMac = remoteMac;
  pins.received_payload_remoteIp = remoteIp;
  pins.received_payload_remotePort = remotePort;
  pins.received_payload_localPort = localPort;
  pins.received_payload_sequence_value = sequence;
  pins.received_payload_acknowledgment_value = acknowledgment;
  pins.received_payload_flags_fin = flags & 1;
  pins.received_payload_flags_syn = flags >> 1 & 1;
  pins.received_payload_flags_rst = flags >> 2 & 1;
  pins.received_payload_flags_psh = flags >> 3 & 1;
  pins.received_payload_flags_ack = flags >> 4 & 1;
  pins.received_payload_flags_urg = flags >> 5 & 1;
  pins.received_payload_flags_ece = flags >> 6 & 1;
  pins.received_payload_flags_cwr = flags >> 7 & 1;
  pins.received_payload_window = window;
  pins.received_payload_urgentPointer = urgentPointer;
  pins.received_payload_length = length;
  pins.received_payload_options_mssValid = hasMss;
  pins.received_payload_options_mss = mss;
  pins.received_payload_options_windowScaleValid = hasWindowScale;
  pins.received_payload_options_windowScale = windowScale;
  pins.received_payload_options_sackPermitted = sackPermitted;
  pins.received_payload_options_timestampValid = hasTimestamps;
  pins.received_payload_options_timestampValue = timestampValue;
  pins.received_payload_options_timestampEcho = timestampEcho;
  pins.received_payload_options_sack_0_valid = sack.blocks[0].valid;
  pins.received_payload_options_sack_0_left = sack.blocks[0].left & offsetMask;
  pins.received_payload_options_sack_0_right = sack.blocks[0].right & offsetMask;
  pins.received_payload_options_sack_1_valid = sack.blocks[1].valid;
  pins.received_payload_options_sack_1_left = sack.blocks[1].left & offsetMask;
  pins.received_payload_options_sack_1_right = sack.blocks[1].right & offsetMask;
  pins.received_payload_options_sack_2_valid = sack.blocks[2].valid;
  pins.received_payload_options_sack_2_left = sack.blocks[2].left & offsetMask;
  pins.received_payload_options_sack_2_right = sack.blocks[2].right & offsetMask;
  pins.received_payload_options_sack_3_valid = sack.blocks[3].valid;
  pins.received_payload_options_sack_3_left = sack.blocks[3].left & offsetMask;
  pins.received_payload_options_sack_3_right = sack.blocks[3].right & offsetMask;
  pins.received_payload_options_duplicateSack = sack.duplicate;
  pins.received_payload_congestionExperienced = marked;
  pins.received_payload_stamp_fraction = stamp & 0xffff;
  pins.received_payload_stamp_ns = stamp >> 16;
}

std::size_t build(const Pins &pins, const Addresses &own, Frame &frame) {
  const unsigned flags = pins.outgoing_payload_header_flags_fin | pins.outgoing_payload_header_flags_syn << 1 |
                         pins.outgoing_payload_header_flags_rst << 2 | pins.outgoing_payload_header_flags_psh << 3 |
                         pins.outgoing_payload_header_flags_ack << 4 | pins.outgoing_payload_header_flags_urg << 5 |
                         pins.outgoing_payload_header_flags_ece << 6 | pins.outgoing_payload_header_flags_cwr << 7;
  const std::uint32_t options[] = {pins.outgoing_payload_header_options_0, pins.outgoing_payload_header_options_1,
                                   pins.outgoing_payload_header_options_2, pins.outgoing_payload_header_options_3,
                                   pins.outgoing_payload_header_options_4, pins.outgoing_payload_header_options_5,
                                   pins.outgoing_payload_header_options_6, pins.outgoing_payload_header_options_7,
                                   pins.outgoing_payload_header_options_8, pins.outgoing_payload_header_options_9};
  const unsigned words = tcp / 4 + pins.outgoing_payload_header_optionWords;
  Writer writer(frame.bytes);
  writer.put(pins.outgoing_payload_header_remoteMac, 6).put(own.mac, 6).put(typeIpv4, 2);
  const unsigned services = pins.outgoing_payload_header_service_differentiatedServices << 2;
  writer.put(0x45, 1).put(services | (pins.outgoing_payload_header_ecnCapable ? ecnCapable : 0), 1);
  writer.put(pins.outgoing_payload_header_ipLength, 2).put(0, 2).put(dontFragment, 2);
  writer.put(pins.outgoing_payload_header_service_timeToLive, 1)
      .put(protocolTcp, 1)
      .put(~pins.outgoing_payload_header_ipSum, 2);
  writer.put(own.ip, 4).put(pins.outgoing_payload_header_remoteIp, 4);
  writer.put(pins.outgoing_payload_header_localPort, 2).put(pins.outgoing_payload_header_remotePort, 2);
  writer.put(pins.outgoing_payload_header_sequence_value, 4).put(pins.outgoing_payload_header_acknowledgment_value, 4);
  writer.put(words << 4, 1).put(flags, 1).put(pins.outgoing_payload_header_window, 2);
  writer.put(~pins.outgoing_payload_header_tcpSum, 2).put(pins.outgoing_payload_header_urgentPointer, 2);
  for (unsigned i = 0; i < words - tcp / 4; ++i) writer.put(options[i], 4);
  frame.length = pins.outgoing_payload_lastByte + 1u;
  frame.tag = pins.outgoing_payload_tag;
  std::memset(writer.end(), 0, static_cast<std::size_t>(frame.bytes + frame.length - writer.end()));
  return pins.outgoing_payload_header_ipLength - ipv4 - words * 4;
}

void setDestination(Frame &frame, std::uint64_t mac) { Writer(frame.bytes).put(mac, 6); }

} // namespace downbeat
