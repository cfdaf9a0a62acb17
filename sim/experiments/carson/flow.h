// SPDX-License-Identifier: BSD-2-Clause-Patent
// A core with one connection that sends all it may, and what became of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ns3/node.h>
#include <ns3/nstime.h>

#include "ns3/core_host.h"

class Flow {
public:
  struct Path {
    std::uint64_t linkRate;    // b/s, of the core's own link
    ns3::Time linkDelay;
    CoreHost::Addresses addresses;
    std::uint32_t receiverIp;
    std::uint16_t port;
  };

  Flow(ns3::Ptr<ns3::Node> router, const Path &path, const std::string &steady, std::uint64_t argument,
       std::uint64_t seed);

  /// Connects; called at the time when it is to begin.
  void begin();
  /// Nothing that happens from now on counts.
  void end();

  std::string failure;
  std::string steady;
  std::uint64_t received = 0; // bytes, counted by whoever hears the receiver
  std::uint64_t segments = 0, retransmissions = 0;
  std::uint64_t acknowledged = 0; // bytes
  unsigned timeouts = 0;
  /// Packets acknowledged from one loss event to the next. A timeout within a round of a loss is part of it, as Carson
  /// counts.
  std::vector<double> intervals;
  /// ns.
  double meanRtt() const { return rtts_ ? rttSum_ / static_cast<double>(rtts_) : 0; }
  /// Packets, over the time from the opening; in recovery ssthresh.
  double meanWindow() const { return seconds_ > 0 ? windowSeconds_ / seconds_ : 0; }
  double seconds() const { return seconds_; }

private:
  void application();
  void see(const downbeat_event &event);
  void account(double now);

  Path path_;
  CoreHost host_;
  std::uint64_t argument_;
  downbeat_connection connection_ = -1;
  std::vector<std::uint8_t> filler_;
  bool counting_ = true, seen_ = false, recovering_ = false;
  std::uint64_t sinceLoss_ = 0, toCover_ = 0; // bytes
  double window_ = 0, since_ = 0, windowSeconds_ = 0, seconds_ = 0, rttSum_ = 0;
  std::uint64_t rtts_ = 0;
};
