// SPDX-License-Identifier: BSD-2-Clause-Patent
// How much of a link the core carries: full segments one way or both, and smallest ACKs.
#pragma once

#include <string>

#include "bench/latency/application.h"
#include "bench/latency/module.h"
#include "bench/latency/peer.h"

namespace ten {

using latency::Time;

struct Traffic {
  bool sends;     // the core
  double
      offered; // the peers' share of the wire in full segments; more than the core takes is lost, and never sent again
};

/// Connections without loss between an application that never rests and peers that fill the wire.
class Throughput {
public:
  Throughput(latency::Module &dut, unsigned connections);

  struct Shares {
    double sent, received; // 1: as much as full segments on a full wire carry
  };
  /// Full segments for so long, behind as long without measurement.
  Shares segments(const Traffic &traffic, Time duration);

  struct Acknowledgments {
    double perSecond;
    std::uint64_t frames, dropped;
  };
  /// So many pure ACKs back to back, connection by connection.
  Acknowledgments acknowledgments(std::uint64_t frames);

private:
  void idle(Time duration);

  latency::Module &dut_;
  unsigned connections_;
  latency::Application application_;
  latency::Peer peer_;
  std::uint64_t events_ = 0; // that the engine took
  static constexpr std::size_t mss = 1460;
};

} // namespace ten
