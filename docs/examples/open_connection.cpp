// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core opens a connection. This program is its clock, the wire, the peer 10.0.0.2 (ARP, TCP) and the
// application. In an unpacked release:
//
//   verilator --cc --exe --build -j 0 -Wno-fatal -Wno-lint --prefix Vcore --top-module Downbeat \
//     -MAKEFLAGS CFG_CXXFLAGS_PCH_I=-include -CFLAGS "-std=c++20 -I$PWD/default" default/Downbeat.v \
//     examples/open_connection.cpp -o open_connection && obj_dir/open_connection
#include "Vcore.h"
#include "downbeat_layout.h"

#include <cstdint>
#include <cstdio>
#include <deque>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t coreMac = 0x020000000001, peerMac = 0x020000000002;
constexpr std::uint32_t coreIp = 0x0a000001, peerIp = 0x0a000002;
constexpr std::uint16_t port = 80;
constexpr std::uint16_t request = 7; // comes back in the notification
constexpr std::size_t tcp = 34; // offset of the TCP header

template <class Wide> void put(Wide &wide, unsigned offset, unsigned width, std::uint64_t value) {
  for (unsigned bit = 0; bit < width; ++bit)
    wide[(offset + bit) / 32] |= static_cast<std::uint32_t>((value >> bit) & 1) << ((offset + bit) % 32);
}
template <class Wide> std::uint64_t get(const Wide &wide, unsigned offset, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned bit = 0; bit < width; ++bit)
    value |= static_cast<std::uint64_t>((wide[(offset + bit) / 32] >> ((offset + bit) % 32)) & 1) << bit;
  return value;
}
void add(Bytes &bytes, unsigned length, std::uint64_t value) { // big-endian
  while (length--) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * length)));
}
std::uint32_t read(const Bytes &bytes, std::size_t at, unsigned length) {
  std::uint32_t value = 0;
  while (length--) value = value << 8 | bytes[at++];
  return value;
}
void checksum(Bytes &bytes, std::size_t from, std::size_t end, std::size_t at, std::uint32_t sum) { // RFC 1071
  for (std::size_t word = from; word < end; word += 2) sum += read(bytes, word, 2);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  bytes[at] = static_cast<std::uint8_t>(~sum >> 8), bytes[at + 1] = static_cast<std::uint8_t>(~sum);
}

Bytes ethernet(std::uint16_t type) {
  Bytes frame;
  add(frame, 6, coreMac), add(frame, 6, peerMac), add(frame, 2, type);
  return frame;
}
Bytes arpReply() { // RFC 826
  Bytes frame = ethernet(0x0806);
  add(frame, 8, 0x0001080006040002), add(frame, 6, peerMac), add(frame, 4, peerIp), add(frame, 6, coreMac);
  add(frame, 4, coreIp), frame.resize(60);
  return frame;
}
Bytes synAck(const Bytes &syn) { // RFC 9293, 3.5
  Bytes frame = ethernet(0x0800);
  add(frame, 8, 0x4500002800004000), add(frame, 2, 0x4006), add(frame, 2, 0), add(frame, 4, peerIp),
      add(frame, 4, coreIp);
  add(frame, 2, port), add(frame, 2, read(syn, tcp, 2)), add(frame, 4, 1000), add(frame, 4, read(syn, tcp + 4, 4) + 1);
  add(frame, 2, 0x5012), add(frame, 2, 0xffff), add(frame, 4, 0);
  checksum(frame, 14, 34, 24, 0);
  checksum(frame, 26, 54, 50, 6 + 20); // with the pseudo header's protocol and length
  frame.resize(60);
  return frame;
}

} // namespace

int main() {
  Vcore core;
  std::uint64_t now = 0; // ns, 16 fraction bits
  std::deque<Bytes> toCore;
  std::size_t sent = 0; // bytes of toCore's first frame
  Bytes fromCore;
  bool isCommanded = false, isAcknowledged = false, isEstablished = false;
  core.local_mac = coreMac, core.local_ip = coreIp, core.local_netmask = 0xffffff00;
  put(core.secret, 0, 64, 0x123456789abcdef); // random and constant, in a product
  put(core.s_axis_command_tdata, DOWNBEAT_COMMAND_KIND_OFFSET, 4, DOWNBEAT_COMMAND_KIND_OPEN);
  put(core.s_axis_command_tdata, DOWNBEAT_COMMAND_REQUEST_OFFSET, 16, request);
  put(core.s_axis_command_tdata, DOWNBEAT_COMMAND_REMOTE_IP_OFFSET, 32, peerIp);
  put(core.s_axis_command_tdata, DOWNBEAT_COMMAND_REMOTE_PORT_OFFSET, 16, port);
  put(core.s_axis_command_tdata, DOWNBEAT_COMMAND_PARAMETERS_INITIAL_WINDOW_OFFSET, 8, 10); // segments
  put(core.s_axis_command_tdata, DOWNBEAT_COMMAND_PARAMETERS_SSTHRESH_OFFSET, 32, 1u << 30); // bytes
  core.m_axis_wire_tx_tready = core.m_axis_notification_tready = core.m_axis_rx_tready = 1;
  core.m_axis_bypass_rx_tready = core.m_axis_path_report_tready = 1;

  for (unsigned clock = 0; clock < 1'000'000 && !(isEstablished && isAcknowledged); ++clock, now += 8 << 16) {
    core.reset = clock < 20;
    core.now = now;
    core.s_axis_command_tvalid = !core.reset && !isCommanded;
    core.s_axis_wire_rx_tvalid = !toCore.empty();
    if (!toCore.empty()) {
      const Bytes &frame = toCore.front();
      core.s_axis_wire_rx_tdata = 0, core.s_axis_wire_rx_tkeep = 0;
      for (std::size_t byte = 0; byte < 8 && sent + byte < frame.size(); ++byte) {
        core.s_axis_wire_rx_tdata |= static_cast<std::uint64_t>(frame[sent + byte]) << (8 * byte);
        core.s_axis_wire_rx_tkeep |= 1 << byte;
      }
      core.s_axis_wire_rx_tlast = sent + 8 >= frame.size();
      core.s_axis_wire_rx_tuser[0] = static_cast<std::uint32_t>(now), core.s_axis_wire_rx_tuser[1] = now >> 32;
    }
    core.clk = 0, core.eval();
    isCommanded |= core.s_axis_command_tvalid && core.s_axis_command_tready;
    if (core.s_axis_wire_rx_tvalid && core.s_axis_wire_rx_tready) {
      sent += 8;
      if (core.s_axis_wire_rx_tlast) toCore.pop_front(), sent = 0;
    }
    // A tagged frame's departure is when its first beat goes.
    const std::uint64_t tag = get(core.m_axis_wire_tx_tuser, 66, 16);
    const bool departs = core.m_axis_wire_tx_tvalid && fromCore.empty() && tag;
    bool isWhole = false;
    if (core.m_axis_wire_tx_tvalid) {
      for (unsigned byte = 0; byte < 8 && (core.m_axis_wire_tx_tkeep >> byte & 1); ++byte)
        fromCore.push_back(static_cast<std::uint8_t>(core.m_axis_wire_tx_tdata >> (8 * byte)));
      isWhole = core.m_axis_wire_tx_tlast;
    }
    if (core.m_axis_notification_tvalid &&
        get(core.m_axis_notification_tdata, DOWNBEAT_NOTIFICATION_ADDRESSES_REQUEST_OFFSET, 16) == request) {
      const auto state = get(core.m_axis_notification_tdata, DOWNBEAT_NOTIFICATION_STATUS_STATE_OFFSET, 4);
      isEstablished |= state == DOWNBEAT_TCP_STATE_ESTABLISHED;
      std::printf("%6u ns  notification: request %u, state %u\n", clock * 8, request, static_cast<unsigned>(state));
    }
    core.clk = 1, core.eval();
    core.s_axis_departure_tvalid = departs;
    core.s_axis_departure_tdata[0] = core.s_axis_departure_tdata[1] = core.s_axis_departure_tdata[2] = 0;
    put(core.s_axis_departure_tdata, 0, 16, tag), put(core.s_axis_departure_tdata, 16, 64, now);
    if (!isWhole) continue;
    if (read(fromCore, 12, 2) == 0x0806 && read(fromCore, 20, 2) == 1 && read(fromCore, 38, 4) == peerIp) {
      std::printf("%6u ns  ARP request\n", clock * 8);
      toCore.push_back(arpReply());
    } else if (read(fromCore, 12, 2) == 0x0800 && fromCore[tcp + 13] == 0x02) {
      std::printf("%6u ns  SYN from port %u\n", clock * 8, read(fromCore, tcp, 2));
      toCore.push_back(synAck(fromCore));
    } else if (read(fromCore, 12, 2) == 0x0800 && fromCore[tcp + 13] == 0x10) {
      isAcknowledged = read(fromCore, tcp + 8, 4) == 1001;
      std::printf("%6u ns  ACK of %u\n", clock * 8, read(fromCore, tcp + 8, 4));
    }
    fromCore.clear();
  }
  std::puts(isEstablished && isAcknowledged ? "established" : "NOT established");
  return isEstablished && isAcknowledged ? 0 : 1;
}
