// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "taps.h"

#include <vector>

#include <ns3/callback.h>
#include <ns3/simulator.h>

using namespace ns3;

namespace {

constexpr const char *comment = "Times are nanoseconds of the simulation, from its start. Interface sender: the "
                                "instant of the frame's SFD (start-of-frame "
                                "delimiter) at the core's MAC, sent or received. The other interfaces are ns-3's "
                                "point-to-point devices, whose links have no SFD: "
                                "outbound, the packet is handed to the device's queue (what the bottleneck's buffer "
                                "drops is outbound on bottleneck-in and nowhere "
                                "else); inbound, its last bit has arrived. No frame has its FCS. Each segment stands "
                                "in the file once for each interface that it "
                                "passes: look at one interface at a time.";

std::uint64_t nanoseconds(Time time) { return static_cast<std::uint64_t>(time.GetNanoSeconds()); }

} // namespace

Taps::Taps(const std::string &path, const Options &options, const Dumbbell &dumbbell)
    : file_(path, "Downbeat, make sim", comment) {
  wire_ = file_.interface(Pcapng::Link::ethernet, "sender", "wire between the core and router A", options.linkRate);
  const auto in = file_.interface(Pcapng::Link::ppp, "bottleneck-in",
                                  "router A's end of the bottleneck, before its buffer", options.rate);
  const auto out = file_.interface(Pcapng::Link::ppp, "bottleneck-out",
                                   "router B's end of the bottleneck, behind its losses", options.rate);
  const auto receiver =
      file_.interface(Pcapng::Link::ppp, "receiver", "the receiver's link to router B", options.linkRate);
  listen(dumbbell.bottleneckIn(), in);
  listen(dumbbell.bottleneckOut(), out);
  listen(dumbbell.receiverDevice(), receiver);
}

void Taps::listen(const Ptr<NetDevice> &device, std::uint32_t interface) {
  const auto hear = [&](const char *trace, Pcapng::Direction direction) {
    device->TraceConnectWithoutContext(
        trace, Callback<void, Ptr<const Packet>>(
                   [this, interface, direction](Ptr<const Packet> heard) { packet(interface, direction, heard); }));
  };
  hear("MacTx", Pcapng::Direction::out);
  hear("MacRx", Pcapng::Direction::in);
}

void Taps::frame(Pcapng::Direction direction, Time sfd, std::span<const std::uint8_t> bytes) {
  file_.packet(wire_, direction, nanoseconds(sfd), bytes);
}

void Taps::packet(std::uint32_t interface, Pcapng::Direction direction, const Ptr<const Packet> &packet) {
  std::vector<std::uint8_t> bytes(packet->GetSize());
  packet->CopyData(bytes.data(), packet->GetSize());
  const std::uint64_t now = nanoseconds(Simulator::Now());
  file_.packet(interface, direction, now, bytes);
  file_.settle(now); // the core's frames are ahead of ns-3, never behind
}
