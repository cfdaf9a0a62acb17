// SPDX-License-Identifier: BSD-2-Clause-Patent
// A router beside the core and a star of hosts behind it, each with a path of its own and all paths equal.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <ns3/node.h>
#include <ns3/nstime.h>

class EqualPaths {
public:
  static constexpr std::uint16_t port = 5001;
  static constexpr std::uint32_t routerIp = 0x0a000101, coreIp = 0x0a000102;

  /// A host has a PacketSink behind `rate` b/s, `delay` one way and a drop-tail queue of `packets`; `received` hears
  /// what it gets.
  EqualPaths(unsigned hosts, std::uint64_t rate, ns3::Time delay, unsigned packets,
             const std::function<void(std::size_t host, std::uint64_t bytes)> &received);

  ns3::Ptr<ns3::Node> router() const { return router_; }
  std::uint32_t ip(std::size_t host) const { return addresses_.at(host); }
  std::uint64_t drops = 0;

private:
  ns3::Ptr<ns3::Node> router_;
  std::vector<std::uint32_t> addresses_;
};
