// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ethernet.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace wire {

namespace {

constexpr std::size_t preamble = 7, start = preamble + 1, fcsBytes = 4, gap = 12, smallest = 60;
constexpr std::uint8_t sfd = 0xd5, preambleByte = 0x55;

std::array<std::uint32_t, 256> makeTable() {
  std::array<std::uint32_t, 256> table;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xedb88320 : 0);
    table[byte] = rest;
  }
  return table;
}

void write(Bytes &bytes, std::size_t at, std::uint64_t value, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * (length - 1 - i));
}

/// The Internet checksum (RFC 1071) over bytes from `at` on, on top of `sum`.
std::uint16_t checksum(const Bytes &bytes, std::size_t at, std::size_t length, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < length; ++i) sum += i % 2 ? bytes[at + i] : bytes[at + i] << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

} // namespace

std::uint32_t fcs(const std::uint8_t *bytes, std::size_t length) {
  static const auto table = makeTable();
  std::uint32_t crc = ~0u;
  for (std::size_t i = 0; i < length; ++i) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
  return ~crc;
}

Bytes segmentFrame(std::size_t length, std::uint32_t sequence) {
  constexpr std::size_t ip = 14, tcp = 34, headers = 54;
  constexpr std::uint32_t peerIp = 0x0a000002;
  Bytes frame(length);
  for (std::size_t i = headers; i < length; ++i) frame[i] = static_cast<std::uint8_t>(sequence * 31 + i * 7);
  write(frame, 0, ownMac, 6);
  write(frame, 6, 0x020000000002, 6);
  write(frame, 12, 0x0800, 2);
  write(frame, ip, 0x4500, 2);
  write(frame, ip + 2, length - ip, 2);
  write(frame, ip + 8, 64 << 8 | 6, 2);
  write(frame, ip + 12, peerIp, 4);
  write(frame, ip + 16, ownIp, 4);
  write(frame, ip + 10, checksum(frame, ip, 20), 2);
  write(frame, tcp, 5001, 2);
  write(frame, tcp + 2, 80, 2);
  write(frame, tcp + 4, sequence, 4);
  write(frame, tcp + 12, 0x5010, 2); // five words; ACK
  write(frame, tcp + 14, 65535, 2);
  constexpr std::uint32_t addresses = (peerIp >> 16) + (peerIp & 0xffff) + (ownIp >> 16) + (ownIp & 0xffff);
  const auto pseudo = static_cast<std::uint32_t>(addresses + 6 + length - tcp);
  write(frame, tcp + 16, checksum(frame, tcp, length - tcp, pseudo), 2);
  return frame;
}

std::size_t Gaps::behind(std::size_t length) {
  const std::size_t bytes = start + std::max<std::size_t>(length, smallest) + fcsBytes + gap;
  const std::size_t slots = (bytes + owed_) / slotBytes_;
  owed_ = (bytes + owed_) % slotBytes_;
  return gap + slots * slotBytes_ - bytes;
}

void Serialiser::put(const Bytes &frame) {
  const auto add = [this](std::uint8_t byte) { symbols_.push_back({byte, true}); };
  for (std::size_t i = 0; i < preamble; ++i) add(preambleByte);
  add(sfd);
  for (const std::uint8_t byte : frame) add(byte);
  const std::uint32_t check = fcs(frame.data(), frame.size());
  for (unsigned i = 0; i < fcsBytes; ++i) add(static_cast<std::uint8_t>(check >> 8 * i));
  symbols_.insert(symbols_.end(), gaps_.behind(frame.size()), Symbol{});
}

Symbol Serialiser::next() {
  if (symbols_.empty()) {
    gaps_.reset();
    return {};
  }
  const Symbol symbol = symbols_.front();
  symbols_.pop_front();
  return symbol;
}

bool Deserialiser::take(Symbol symbol, std::uint64_t place) {
  if (symbol.valid) {
    if (std::exchange(ended_, false)) bytes_.clear();
    if (bytes_.empty()) seen.gap = idle_;
    idle_ = 0;
    bytes_.push_back(symbol.data);
    if (bytes_.size() == preamble + 1) seen.sfd = place;
    return false;
  }
  ++idle_;
  if (bytes_.empty() || ended_) return false;
  const bool whole = bytes_.size() >= start + smallest + fcsBytes;
  seen.length = whole ? bytes_.size() - start - fcsBytes : 0;
  seen.head = 0;
  if (whole) std::memcpy(&seen.head, bytes_.data() + start, sizeof seen.head);
  std::uint32_t check = 0;
  for (unsigned i = 0; whole && i < fcsBytes; ++i)
    check |= std::uint32_t{bytes_[bytes_.size() - fcsBytes + i]} << 8 * i;
  const auto isPreamble = [](std::uint8_t byte) { return byte == preambleByte; };
  seen.right = whole && std::all_of(bytes_.begin(), bytes_.begin() + preamble, isPreamble) && bytes_[preamble] == sfd &&
               check == fcs(bytes_.data() + start, seen.length);
  ended_ = true;
  return true;
}

std::span<const std::uint8_t> Deserialiser::frame() const {
  return std::span(bytes_).subspan(std::min(start, bytes_.size()), seen.length);
}

} // namespace wire
