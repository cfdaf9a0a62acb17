// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "impaired_link.h"

#include <vector>

#include <ns3/simulator.h>

#include "lib/path/segment.h"

using namespace ns3;

namespace {
constexpr std::size_t ethernetHeader = 14;
} // namespace

void ImpairedLink::Send(Ptr<Packet> packet, std::uint16_t protocol, Mac48Address to, Mac48Address from,
                        Ptr<SimpleNetDevice> sender) {
  for (const auto &copy : toCore.next()) {
    std::vector<std::uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    if (copy.damaged) flip(bytes.data(), bytes.size(), copy.bit);
    const auto arriving = Create<Packet>(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    const auto send = [=, this] { CoreLink::Send(arriving, protocol, to, from, sender); };
    if (copy.held > 0)
      Simulator::Schedule(held(copy), send);
    else
      send();
  }
}

void ImpairedLink::fromCore(const std::uint8_t *frame, std::size_t length, downbeat_time departure) {
  const std::span packet(frame + ethernetHeader, length - ethernetHeader);
  const auto segment = Segment::of(packet);
  wrongFromCore += !segment;
  const Time left = time(departure);
  const bool hasData = segment && segment->length > 1; // SYN and FIN alone take one number
  if (hasData && !firstData) firstData = left;
  if (hasData && cell_.drops.contains(++dataSegments_)) return;
  for (const auto &copy : outOfCore.next()) {
    std::vector<std::uint8_t> bytes(frame, frame + length);
    if (copy.damaged) flip(bytes.data() + ethernetHeader, packet.size(), copy.bit);
    // ns-3 parses a header before it looks at the checksum, and may abort on a damaged one. So the node's interface
    // checks, as one with checksum offload does. (A flip in the padding behind the packet harms nobody and passes.)
    if (!Segment::of(std::span(bytes).subspan(ethernetHeader))) continue;
    CoreLink::fromCore(bytes.data(), length, departure + stamp(held(copy) + spike(left)));
  }
}

Time ImpairedLink::spike(Time departure) const {
  if (!firstData) return {};
  const Time begin = *firstData + Seconds(cell_.spikeAt), end = begin + Seconds(cell_.spike);
  return departure >= begin && departure < end ? end - departure : Time();
}
