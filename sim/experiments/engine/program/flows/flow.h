// SPDX-License-Identifier: BSD-2-Clause-Patent
// A connection of the run, sent by a core or by ns-3, and the receiver at its other end.
#pragma once

#include <cstdint>

#include <ns3/inet-socket-address.h>
#include <ns3/node.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>

#include "flow_record.h"

/// ns-3's callbacks from a lambda.
template <typename... Arguments, typename Function> ns3::Callback<void, Arguments...> callback(Function function) {
  return ns3::Callback<void, Arguments...>(function);
}

class Flow {
public:
  Flow(const FlowPlan &plan, const Marks &marks) : record(plan, marks) {}
  virtual ~Flow() = default;
  /// Called at the times that the plan gives.
  /// The connection starts soon.
  virtual void expect() {}
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual void write(std::uint64_t bytes) = 0;
  virtual void changeArgument(const ArgumentPlan &) {}
  /// Checks whether the connection lives; called every 500 ms.
  virtual void check() {}

  FlowRecord record;

protected:
  static double now() { return ns3::Simulator::Now().GetSeconds(); }
};

/// Listens at a port of its own for one flow, and discards its data.
class Receiver {
public:
  static constexpr std::uint16_t firstPort = 1000;

  Receiver(ns3::Ptr<ns3::Node> node, std::uint16_t port, Flow &flow);

private:
  ns3::Ptr<ns3::Socket> socket_;
};
