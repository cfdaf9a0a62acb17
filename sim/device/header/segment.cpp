// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "segment.h"

namespace downbeat {

namespace {

constexpr std::size_t ethernet = 14, tag = 4, ipv4 = 20, tcp = 20;
constexpr std::uint16_t typeTag = 0x8100, typeIpv4 = 0x0800;
constexpr std::uint8_t protocolTcp = 6;
constexpr std::uint16_t dontFragment = 0x4000, fragments = 0x3fff;
constexpr std::uint8_t fin = 1, syn = 2, rst = 4, ack = 16;
constexpr std::uint8_t endOfOptions = 0, noOperation = 1, mss = 2, windowScale = 3;
constexpr std::uint16_t smallestMss = 64;
constexpr std::uint8_t largestWindowScale = 14;
constexpr std::uint8_t timeToLive = 64;

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

/// The options that count on a SYN; false: one of length 0 or 1, or past the header.
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
    }
    at += at[1];
  }
  return true;
}

} // namespace

Arrival parse(const std::uint8_t *bytes, std::size_t length, const Addresses &own, Segment &segment) {
  if (length < ethernet + ipv4 || read48(bytes) != own.mac) return Arrival::others;
  const std::uint8_t *ip = bytes + ethernet + (read16(bytes + 12) == typeTag ? tag : 0), *end = bytes + length;
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
  segment.window = read16(header + 14);
  segment.length = static_cast<std::uint16_t>(total - ipHeader - tcpHeader);
  const bool contradicts = segment.flags & syn && segment.flags & (fin | rst), saysNothing = !(segment.flags & (syn | rst | ack));
  if (contradicts || saysNothing || segment.remotePort == 0 || segment.localPort == 0 || segment.remoteIp == own.ip)
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
  pins.received_payload_length = length;
  pins.received_payload_options_mssValid = hasMss;
  pins.received_payload_options_mss = mss;
  pins.received_payload_options_windowScaleValid = hasWindowScale;
  pins.received_payload_options_windowScale = windowScale;
  pins.received_payload_stamp_fraction = stamp & 0xffff;
  pins.received_payload_stamp_ns = stamp >> 16;
}

std::size_t build(const Pins &pins, const Addresses &own, Frame &frame) {
  const unsigned flags = pins.outgoing_payload_header_flags_fin | pins.outgoing_payload_header_flags_syn << 1 |
                         pins.outgoing_payload_header_flags_rst << 2 | pins.outgoing_payload_header_flags_psh << 3 |
                         pins.outgoing_payload_header_flags_ack << 4 | pins.outgoing_payload_header_flags_urg << 5 |
                         pins.outgoing_payload_header_flags_ece << 6 | pins.outgoing_payload_header_flags_cwr << 7;
  const bool hasMss = flags & syn, hasWindowScale = hasMss && pins.outgoing_payload_header_windowScale;
  const unsigned words = tcp / 4 + hasMss + hasWindowScale;
  Writer writer(frame.bytes);
  writer.put(pins.outgoing_payload_header_remoteMac, 6).put(own.mac, 6).put(typeIpv4, 2);
  writer.put(0x4500, 2).put(pins.outgoing_payload_header_ipLength, 2).put(0, 2).put(dontFragment, 2);
  writer.put(timeToLive, 1).put(protocolTcp, 1).put(~pins.outgoing_payload_header_ipSum, 2);
  writer.put(own.ip, 4).put(pins.outgoing_payload_header_remoteIp, 4);
  writer.put(pins.outgoing_payload_header_localPort, 2).put(pins.outgoing_payload_header_remotePort, 2);
  writer.put(pins.outgoing_payload_header_sequence_value, 4).put(pins.outgoing_payload_header_acknowledgment_value, 4);
  writer.put(words << 4, 1).put(flags, 1).put(pins.outgoing_payload_header_window, 2);
  writer.put(~pins.outgoing_payload_header_tcpSum, 2).put(0, 2);
  if (hasMss) writer.put(mss, 1).put(4, 1).put(DOWNBEAT_OWN_MSS, 2);
  if (hasWindowScale) writer.put(noOperation, 1).put(windowScale, 1).put(3, 1).put(DOWNBEAT_RECEIVE_WINDOW_SCALE, 1);
  frame.length = pins.outgoing_payload_lastByte + 1u;
  frame.tag = pins.outgoing_payload_tag;
  std::memset(writer.end(), 0, static_cast<std::size_t>(frame.bytes + frame.length - writer.end()));
  return pins.outgoing_payload_header_ipLength - ipv4 - words * 4;
}

void setDestination(Frame &frame, std::uint64_t mac) { Writer(frame.bytes).put(mac, 6); }

} // namespace downbeat
