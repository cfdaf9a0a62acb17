// SPDX-License-Identifier: BSD-2-Clause-Patent
// Points of the path that a capture file records: the core's wire, both ends of the bottleneck, the receiver.
#pragma once

#include <span>
#include <string>

#include <ns3/nstime.h>
#include <ns3/packet.h>

#include "dumbbell.h"
#include "lib/capture/pcapng.h"
#include "options.h"

class Taps {
public:
  /// Called before the first event.
  Taps(const std::string &path, const Options &options, const Dumbbell &dumbbell);

  explicit operator bool() const { return static_cast<bool>(file_); }
  /// Records a frame on the core's wire, whose SFD is at the core at `sfd`.
  void frame(Pcapng::Direction direction, ns3::Time sfd, std::span<const std::uint8_t> bytes);

private:
  void listen(const ns3::Ptr<ns3::NetDevice> &device, std::uint32_t interface);
  void packet(std::uint32_t interface, Pcapng::Direction direction, const ns3::Ptr<const ns3::Packet> &packet);

  Pcapng file_;
  std::uint32_t wire_;
};
