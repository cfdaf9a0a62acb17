// SPDX-License-Identifier: BSD-2-Clause-Patent
// One file between the core and ns-3's TCP over a bad path, watched.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>

#include <ns3/node.h>

#include "acknowledgment_watch.h"
#include "cell.h"
#include "idle_watch.h"
#include "impaired_link.h"
#include "lib/capture/pcapng.h"
#include "linux/application.h"
#include "ns3/core_host.h"
#include "peer.h"
#include "rto.h"

class Transfer {
public:
  static constexpr std::uint64_t rate = 100'000'000; // b/s
  static constexpr std::int64_t delay = 10'000'000;  // ns, one way

  explicit Transfer(const Cell &cell);

  void run();
  /// One JSON object, in one line.
  void print(std::ostream &out) const;

private:
  /// As far as the core runs ahead of ns-3: its application reads no later than this.
  static constexpr std::int64_t lookahead = 100'000; // ns
  static constexpr std::size_t lastEvents = 30;
  /// Virtual seconds without progress. A fifth of the frames lost each way makes five expiries in a row a thing of
  /// every tenth cell, and each waits up to 60 s; after sixteen, here 630 s, the core gives up by itself.
  static constexpr double stall = 700;

  /// The last frame from ns-3 has had its time to arrive.
  static constexpr double lastWords = 1; // virtual seconds

  bool finished() const;
  void step();
  void look();
  void hear(CoreHost::Way way, ns3::Time sfd, std::span<const std::uint8_t> frame);
  void record(const downbeat_event &event);
  /// From the departure of the core's first data to the arrival of the last byte in order.
  double completionSeconds() const;
  /// Frames and events of the core are heard ahead of each other: they count in the order of their times.
  void later(ns3::Time time, std::function<void()> what) { heard_.emplace(time, std::move(what)); }
  void settle(ns3::Time until);

  Cell cell_;
  ns3::Ptr<ns3::Node> node_;
  ns3::Ptr<ImpairedLink> link_;
  CoreHost host_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<PeerSink> sink_;
  std::unique_ptr<PeerSource> source_;
  std::optional<Pcapng> capture_;
  std::uint32_t captured_ = 0; // the interface
  std::multimap<ns3::Time, std::function<void()>> heard_;
  Rto rto_;
  IdleWatch coreIdle_;
  AcknowledgmentWatch coreAcknowledgments_;
  std::deque<downbeat_event> last_;
  std::uint64_t progress_ = 0;
  ns3::Time lastProgress_, end_;
  std::chrono::steady_clock::time_point wallStart_ = std::chrono::steady_clock::now();
  std::string failure_;
};
