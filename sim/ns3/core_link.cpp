// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "core_link.h"

#include <algorithm>
#include <array>

#include <ns3/assert.h>
#include <ns3/node.h>
#include <ns3/simulator.h>

using namespace ns3;

namespace {

constexpr std::size_t header = 14, smallest = 60;
constexpr std::size_t preamble = 8, fcs = 4, gap = 12; // bytes on the wire beside the frame

} // namespace

Time CoreLink::bytes(std::size_t count) const {
  return PicoSeconds(static_cast<std::int64_t>((count * 8'000'000'000'000 + rate_ - 1) / rate_));
}

Time CoreLink::time(downbeat_time stamp) {
  return PicoSeconds(static_cast<std::int64_t>((static_cast<unsigned __int128>(stamp) * 1000 + 65535) >> 16));
}

downbeat_time CoreLink::stamp(Time time) {
  return static_cast<downbeat_time>((static_cast<unsigned __int128>(time.GetPicoSeconds()) << 16) / 1000);
}

void CoreLink::Send(Ptr<Packet> packet, std::uint16_t protocol, Mac48Address to, Mac48Address from,
                    Ptr<SimpleNetDevice>) {
  std::array<std::uint8_t, 9018> frame{};
  const std::size_t payload = packet->GetSize();
  if (header + payload > frame.size()) return;
  to.CopyTo(frame.data());
  from.CopyTo(frame.data() + 6);
  frame[12] = static_cast<std::uint8_t>(protocol >> 8);
  frame[13] = static_cast<std::uint8_t>(protocol);
  packet->CopyData(frame.data() + header, static_cast<std::uint32_t>(payload));
  const std::size_t length = std::max(header + payload, smallest);
  const Time start = std::max(Simulator::Now(), free_);
  free_ = start + bytes(preamble + length + fcs + gap);
  deliver_(frame.data(), length, stamp(start + bytes(preamble - 1) + delay_));
}

void CoreLink::fromCore(const std::uint8_t *frame, std::size_t length, downbeat_time departure) {
  const auto device = DynamicCast<SimpleNetDevice>(GetDevice(0));
  const Time arrival = time(departure) + bytes(1 + std::max(length, smallest) + fcs) + delay_;
  NS_ABORT_MSG_IF(arrival < Simulator::Now(), "a frame of the core arrives in the past: the lookahead is too long");
  Mac48Address to, from;
  to.CopyFrom(frame);
  from.CopyFrom(frame + 6);
  const auto protocol = static_cast<std::uint16_t>(frame[12] << 8 | frame[13]);
  // Into another node's context: a plain Schedule would abort in a checked ns-3.
  Simulator::ScheduleWithContext(device->GetNode()->GetId(), arrival - Simulator::Now(), &SimpleNetDevice::Receive,
                                 device, Create<Packet>(frame + header, static_cast<std::uint32_t>(length - header)),
                                 protocol, to, from);
}
