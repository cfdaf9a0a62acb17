// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "routes.h"

#include <deque>

#include <ns3/channel.h>
#include <ns3/ipv4-route.h>
#include <ns3/net-device.h>

using namespace ns3;

unsigned Places::routerOf(std::uint32_t address) const {
  if (const auto network = networks_.find(address & mask); network != networks_.end()) return network->second;
  const auto router = routers_.find(address);
  return router == routers_.end() ? nowhere : router->second;
}

void Forwarding::SetIpv4(Ptr<Ipv4> ipv4) {
  ipv4_ = ipv4;
  for (std::uint32_t interface = 0; interface < ipv4->GetNInterfaces(); ++interface) {
    const Ptr<Ipv4Route> route = Create<Ipv4Route>();
    route->SetSource(ipv4->GetAddress(interface, 0).GetLocal());
    route->SetGateway(Ipv4Address::GetAny()); // each link has one other end
    route->SetOutputDevice(ipv4->GetNetDevice(interface));
    routes_.push_back(route);
  }
}

Ptr<Ipv4Route> Forwarding::route(std::uint32_t address) const {
  const unsigned router = places_->routerOf(address);
  if (router == Places::nowhere) return nullptr;
  if (router != router_) return routes_[towards_[router]];
  const auto network = own_.find(address & Places::mask);
  return network == own_.end() ? nullptr : routes_[network->second];
}

Ptr<Ipv4Route> Forwarding::RouteOutput(Ptr<Packet>, const Ipv4Header &header, Ptr<NetDevice>,
                                       Socket::SocketErrno &error) {
  const Ptr<Ipv4Route> found = route(header.GetDestination().Get());
  error = found ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
  return found;
}

bool Forwarding::RouteInput(Ptr<const Packet> packet, const Ipv4Header &header, Ptr<const NetDevice> device,
                            const UnicastForwardCallback &forward, const MulticastForwardCallback &,
                            const LocalDeliverCallback &deliver, const ErrorCallback &) {
  const auto interface = static_cast<std::uint32_t>(ipv4_->GetInterfaceForDevice(device));
  if (ipv4_->IsDestinationAddress(header.GetDestination(), interface)) {
    deliver(packet, header, interface);
    return true;
  }
  const Ptr<Ipv4Route> found = route(header.GetDestination().Get());
  if (found) forward(found, packet, header);
  return found != nullptr;
}

namespace {

struct Neighbour {
  unsigned router;
  std::uint32_t interface;
};

/// The node at the other end of a link; none where it is the core's.
Ptr<Node> otherEnd(const Ptr<NetDevice> &device) {
  const Ptr<Channel> link = device->GetChannel();
  for (std::size_t end = 0; end < link->GetNDevices(); ++end)
    if (link->GetDevice(end) != device) return link->GetDevice(end)->GetNode();
  return nullptr;
}

/// The first interface of a shortest way to each router.
Forwarding::Interfaces towards(unsigned from, const std::vector<std::vector<Neighbour>> &neighbours) {
  std::vector<bool> seen(neighbours.size());
  Forwarding::Interfaces first(neighbours.size());
  std::deque<unsigned> next{from};
  seen[from] = true;
  for (; !next.empty(); next.pop_front()) {
    for (const Neighbour &neighbour : neighbours[next.front()]) {
      if (seen[neighbour.router]) continue;
      seen[neighbour.router] = true;
      first[neighbour.router] = next.front() == from ? neighbour.interface : first[next.front()];
      next.push_back(neighbour.router);
    }
  }
  return first;
}

} // namespace

void setRoutes(const std::vector<Ptr<Node>> &routers) {
  std::unordered_map<const Node *, unsigned> numbers;
  for (const Ptr<Node> &router : routers) numbers.emplace(PeekPointer(router), static_cast<unsigned>(numbers.size()));
  const auto places = std::make_shared<Places>();
  std::vector<std::vector<Neighbour>> neighbours(routers.size());
  std::vector<Ptr<Forwarding>> tables;
  for (unsigned number = 0; number < routers.size(); ++number) {
    const Ptr<Ipv4> ipv4 = routers[number]->GetObject<Ipv4>();
    const Ptr<Forwarding> &table = tables.emplace_back(CreateObject<Forwarding>(number, places));
    for (std::uint32_t interface = 1; interface < ipv4->GetNInterfaces(); ++interface) {
      const std::uint32_t address = ipv4->GetAddress(interface, 0).GetLocal().Get();
      places->addRouter(address, number);
      const Ptr<Node> other = otherEnd(ipv4->GetNetDevice(interface));
      if (const auto found = numbers.find(PeekPointer(other)); found != numbers.end()) {
        neighbours[number].push_back({found->second, interface});
      } else {
        places->addNetwork(address, number);
        table->addNetwork(address, interface);
      }
    }
  }
  for (unsigned number = 0; number < routers.size(); ++number) {
    tables[number]->setTowards(towards(number, neighbours));
    routers[number]->GetObject<Ipv4>()->SetRoutingProtocol(tables[number]);
  }
}
