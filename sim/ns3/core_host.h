// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core as a host beside an ns-3 node.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <ns3/event-id.h>
#include <ns3/node.h>

#include "core_link.h"

/// A device of libdownbeat_sim at one end of a CoreLink, an ns-3 node at the other; ns-3 has the clock.
///
/// The core runs ahead of ns-3 by `lookahead`, at most the delay of its link: frames that it sends or receives until
/// then arrive later than now. Without lookahead ns-3 would wake for each clock of a busy core.
class CoreHost {
public:
  struct Addresses {
    std::uint32_t core, node; // one /24
  };
  enum class Way { toCore, fromCore };
  /// Called with each frame whose SFD is at the core's end of the wire at `sfd`.
  using Listener = std::function<void(Way way, ns3::Time sfd, std::span<const std::uint8_t> frame)>;

  /// Gives the node a device on the link; both ends know each other's addresses, so that no ARP comes before the first
  /// SYN.
  CoreHost(ns3::Ptr<ns3::Node> node, ns3::Ptr<CoreLink> link, Addresses addresses, ns3::Time lookahead);

  /// Makes the device; returns the fault, or an empty text. `waves`: FST file to write, empty for none.
  std::string open(std::uint64_t seed, const std::string &waves);
  downbeat_device *device() const { return device_.get(); }

  void listen(Listener listener) { listener_ = std::move(listener); }
  /// The application on the core: it is called whenever the core has moved.
  void run(std::function<void()> application) { application_ = std::move(application); }
  /// If true, the application is called after each of the core's deadlines instead of once a lookahead.
  void attentive(bool attentive) { attentive_ = attentive; }

  /// Gives the core all frames up to its time, takes its frames, and schedules itself for the core's next deadline.
  void pump();
  /// Wall time spent in the core and its application.
  double wallSeconds() const { return std::chrono::duration<double>(wall_).count(); }

private:
  struct Destroy {
    void operator()(downbeat_device *device) const { downbeat_sim_destroy(device); }
  };

  void toCore(const std::uint8_t *frame, std::size_t length, downbeat_time arrival);
  void wakeAt(ns3::Time time);

  ns3::Ptr<CoreLink> link_;
  Addresses addresses_;
  ns3::Time lookahead_;
  std::unique_ptr<downbeat_device, Destroy> device_;
  Listener listener_;
  std::function<void()> application_;
  bool attentive_ = true;
  ns3::EventId wake_;
  std::chrono::steady_clock::duration wall_{};
};
