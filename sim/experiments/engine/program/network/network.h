// SPDX-License-Identifier: BSD-2-Clause-Patent
// Routers, their links with queues, and the hosts behind them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ns3/net-device-container.h>
#include <ns3/node.h>
#include <ns3/packet.h>
#include <ns3/queue-item.h>

#include "plan/json.h"
#include "plan/plan.h"

/// Counts the packets in the queue of a link from `a` to `b`.
class QueueWatch {
public:
  /// Counts from now on.
  void begin();
  void changed(std::uint32_t packets);
  void print(Json &json) const;

  std::uint64_t arrived = 0, dropped = 0; // packets
  std::uint32_t packets() const { return packets_; }

private:
  double integral(double now) const { return integral_ + packets_ * (now - since_); }

  std::uint32_t packets_ = 0, max_ = 0;
  double begin_ = 0, since_ = 0, integral_ = 0; // s, packets x s
};

class Network {
public:
  explicit Network(const Plan &plan);
  /// Called when all links and hosts are there.
  void route() const;

  ns3::Ptr<ns3::Node> router(unsigned index) const { return routers_.at(index); }
  ns3::Ptr<ns3::Node> host(unsigned index) const { return hosts_.at(index); }
  std::uint32_t address(unsigned host) const { return addresses_.at(host); }
  /// r0: a router, h0: a host.
  ns3::Ptr<ns3::Node> node(const std::string &name) const;
  const std::vector<std::unique_ptr<QueueWatch>> &watches() const { return watches_; }

private:
  void join(const LinkPlan &link, unsigned index);
  void join(const AccessPlan &access, unsigned index);
  void watchDropTail(QueueWatch &watch, const ns3::NetDeviceContainer &devices);

  std::vector<ns3::Ptr<ns3::Node>> routers_, hosts_;
  std::vector<std::uint32_t> addresses_;
  std::vector<unsigned> hostsAt_;
  std::vector<std::unique_ptr<QueueWatch>> watches_;
};
