// SPDX-License-Identifier: BSD-2-Clause-Patent
// The path: sender - router A = bottleneck = router B - receiver with ns-3's TCP and a PacketSink.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ns3/net-device-container.h>
#include <ns3/net-device.h>
#include <ns3/node.h>
#include <ns3/nstime.h>
#include <ns3/packet-sink.h>
#include <ns3/queue.h>

#include "options.h"

/// Values of ns-3's attributes by their full names.
using Settings = std::map<std::string, std::string>;

class Dumbbell {
public:
  static constexpr std::uint16_t port = 5001;
  /// 10.0.1.1 is router A towards the sender, 10.0.1.2 the sender, 10.0.3.2 the receiver.
  static constexpr std::uint32_t routerIp = 0x0a000101, senderIp = 0x0a000102, receiverIp = 0x0a000302;

  /// Sets ns-3's defaults, which must come before any node, and builds everything but the sender.
  explicit Dumbbell(const Options &options);

  const Settings &settings() const { return settings_; }
  ns3::Ptr<ns3::Node> routerA() const { return routerA_; }
  ns3::Ptr<ns3::PacketSink> sink() const { return sink_; }
  ns3::Ptr<ns3::Queue<ns3::Packet>> queue() const { return queue_; }
  /// Both ends of the bottleneck, in the direction of the data; the receiver's end of its link.
  ns3::Ptr<ns3::NetDevice> bottleneckIn() const { return bottleneck_.Get(0); }
  ns3::Ptr<ns3::NetDevice> bottleneckOut() const { return bottleneck_.Get(1); }
  ns3::Ptr<ns3::NetDevice> receiverDevice() const { return receiverDevice_; }
  /// Delay of the sender's link, one way.
  ns3::Time linkDelay() const { return linkDelay_; }

  std::uint64_t queueDrops = 0, randomLosses = 0;
  std::uint64_t queueBytes() const;

private:
  void set(const std::string &attribute, const std::string &value);
  void bind(const std::string &global, const std::string &value);
  void setTcp(const Options &options);
  void build(const Options &options);

  Settings settings_;
  ns3::Ptr<ns3::Node> routerA_, routerB_, receiver_;
  ns3::NetDeviceContainer bottleneck_;
  ns3::Ptr<ns3::NetDevice> receiverDevice_;
  ns3::Ptr<ns3::PacketSink> sink_;
  ns3::Ptr<ns3::Queue<ns3::Packet>> queue_;
  ns3::Time linkDelay_, bottleneckDelay_;
};
