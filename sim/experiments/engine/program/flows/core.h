// SPDX-License-Identifier: BSD-2-Clause-Patent
// A Verilated core with any number of connections.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "flow.h"
#include "ns3/core_host.h"
#include "path_reports.h"

class CoreFlow;

class Core {
public:
  /// A core beside `node`; `estimates` may be nullptr.
  Core(ns3::Ptr<ns3::Node> node, const AccessPlan &link, unsigned index, Estimates *estimates);

  /// Empty, or why the device cannot be opened.
  std::string open(std::uint64_t seed);
  void add(CoreFlow &flow) { flows_.push_back(&flow); }
  void forget(CoreFlow &flow);
  /// Called before each command too: the core's time stands still while it is idle, and frames that the command sends
  /// would arrive in the past.
  void pump() { host_.pump(); }
  downbeat_device *device() const { return host_.device(); }
  Estimates *estimates() const { return estimates_; }
  double wallSeconds() const { return host_.wallSeconds(); }
  /// s, of the core, which runs ahead of ns-3.
  double now() const { return static_cast<double>(downbeat_sim_now(device())) / 65536e9; }

private:
  void application();
  void see(const downbeat_event &event);
  CoreFlow *owner(std::uint32_t flow, std::uint32_t generation);

  CoreHost host_;
  Estimates *estimates_;
  std::vector<CoreFlow *> flows_; // open connections
  std::map<std::uint64_t, CoreFlow *> byName_; // flow and generation
};

class CoreFlow : public Flow {
public:
  CoreFlow(const FlowPlan &plan, const Marks &marks, Core &core, std::uint32_t remote, std::uint16_t port,
           std::uint64_t name);

  void expect() override;
  void start() override;
  void stop() override;
  void write(std::uint64_t bytes) override;
  void changeArgument(const ArgumentPlan &change) override;
  void check() override;

  /// Hands the core as many bytes as it has space for.
  void fill();
  void see(const downbeat_event &event);
  void reported(const downbeat_path_report &report);
  downbeat_sim_connection connection() const { return connection_; }

private:
  downbeat_parameters parameters();
  bool accepted(std::int64_t result, const char *what);

  Core &core_;
  std::uint32_t remote_;
  std::uint16_t port_;
  downbeat_sim_connection connection_ = -1;
  std::unique_ptr<PathReports> reports_;
  std::uint64_t name_, given_ = 0, wanted_ = 0; // bytes
  std::size_t writesBegun_ = 0;
  std::uint32_t firstByte_ = 0; // its sequence number
  double lastWindow_ = 0, firstSsthresh_ = 0; // segments
  bool recovering_ = false, over_ = false, shutDown_ = false;
};
