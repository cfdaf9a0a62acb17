// SPDX-License-Identifier: BSD-2-Clause-Patent
// Ways of the fewest links. ns-3's own routing looks through every network for each packet of each router, which is
// most of the time of a run with hundreds of routers.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <ns3/ipv4-routing-protocol.h>
#include <ns3/ipv4.h>
#include <ns3/node.h>

/// The router in front of each address.
class Places {
public:
  static constexpr std::uint32_t mask = 0xffffff00; // the mask of every network
  static constexpr unsigned nowhere = ~0u;

  void addRouter(std::uint32_t address, unsigned router) { routers_[address] = router; }
  void addNetwork(std::uint32_t address, unsigned router) { networks_[address & mask] = router; }
  unsigned routerOf(std::uint32_t address) const;

private:
  std::unordered_map<std::uint32_t, unsigned> routers_, networks_;
};

/// Forwarding table of a router: towards each other router one interface, towards its own networks theirs.
class Forwarding : public ns3::Ipv4RoutingProtocol {
public:
  using Interfaces = std::vector<std::uint32_t>; // by router
  Forwarding(unsigned router, std::shared_ptr<const Places> places) : router_(router), places_(std::move(places)) {}

  void setTowards(Interfaces towards) { towards_ = std::move(towards); }
  void addNetwork(std::uint32_t address, std::uint32_t interface) { own_[address & Places::mask] = interface; }

  ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header &header,
                                       ns3::Ptr<ns3::NetDevice> device, ns3::Socket::SocketErrno &error) override;
  bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header,
                  ns3::Ptr<const ns3::NetDevice> device, const UnicastForwardCallback &forward,
                  const MulticastForwardCallback &, const LocalDeliverCallback &deliver,
                  const ErrorCallback &) override;
  void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override;
  void NotifyInterfaceUp(std::uint32_t) override {}
  void NotifyInterfaceDown(std::uint32_t) override {}
  void NotifyAddAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

private:
  ns3::Ptr<ns3::Ipv4Route> route(std::uint32_t address) const;

  unsigned router_;
  std::shared_ptr<const Places> places_;
  ns3::Ptr<ns3::Ipv4> ipv4_;
  std::vector<ns3::Ptr<ns3::Ipv4Route>> routes_; // by interface
  Interfaces towards_;
  std::unordered_map<std::uint32_t, std::uint32_t> own_;
};

/// Gives each router its Forwarding, by the interfaces that the routers have now.
void setRoutes(const std::vector<ns3::Ptr<ns3::Node>> &routers);
