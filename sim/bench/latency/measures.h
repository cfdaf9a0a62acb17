// SPDX-License-Identifier: BSD-2-Clause-Patent
// The three latencies, each over a run of segments at a load.
#pragma once

#include <string>
#include <vector>

#include "application.h"
#include "lib/packets/draw.h"
#include "module.h"
#include "peer.h"

namespace latency {

enum class Load { idle, half, full };

struct Setting {
  std::size_t payload; // bytes of a segment
  unsigned connections;
  Load load;
  std::size_t samples;
  std::uint64_t seed;
};

struct Result {
  std::vector<Time> samples;
  std::uint64_t events = 0; // that the engine took
  Time begin = 0, end = 0; // the first sample's first event, the last sample's second
};

/// Connections, established, between an application and its peers; a measurement decides what moves.
class Bench {
public:
  Bench(Module &dut, const Setting &setting);

  /// SFD of a segment that comes to the first byte of its payload on m_axis_rx.
  Result receive();
  /// First byte of a write on s_axis_tx to the SFD of the segment that has it.
  Result send();
  /// SFD of an ACK that moves a full window by one segment to the SFD of the segment that it lets go.
  Result turn();

private:
  /// From one segment to the next, SFD to SFD, for the load; idle: so long that nothing else is on its way.
  Time gap();
  Time frameTime() const;
  /// Until all samples are there; they must not be long in coming.
  Result collect(Result &result);

  Module &dut_;
  Setting setting_;
  Application application_;
  Peer peer_;
  fuzz::Draw draw_;
  std::uint64_t events_ = 0; // since reset
  static constexpr std::uint16_t windowSegments = 4;
};

} // namespace latency
