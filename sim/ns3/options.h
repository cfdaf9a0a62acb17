// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options of a run. `python -m sim.ns3` gives every value; the ones here are for running the program by hand.
#pragma once

#include <cstdint>
#include <string>

struct Options {
  std::string sender = "core"; // or linux-reno: ns-3's own TCP on the same path
  std::string file;
  std::string out = ".";             // directory for events.csv, series.csv, received.bin, result.json
  std::uint64_t rate = 20'000'000;   // bottleneck, b/s
  std::uint64_t linkRate = 1'000'000'000; // the core's and the receiver's link, b/s
  std::uint64_t rtt = 40'000'000;    // ns, whole path, both ways, without serialisation
  std::uint64_t buffer = 0;          // bottleneck buffer, bytes; 0: one bandwidth-delay product
  std::uint64_t bufferPackets = 0;   // counts packets instead if not 0
  double loss = 0;                   // probability for each data-direction packet behind the bottleneck
  std::uint64_t ssthresh = 65536;    // bytes
  std::uint32_t initialWindow = 10;  // segments
  std::uint32_t segmentSize = 1460;  // bytes, of both TCPs
  std::string startup, steady;       // policies; empty: the build's first
  std::string startupArgument, steadyArgument; // their arguments, a number; empty: none
  std::uint64_t seed = 1;
  std::string waves;                 // FST file; empty: none
  std::string pcap;                  // capture file; empty: none
  double wallLimit = 900;            // seconds of wall time

  static Options parse(int count, char **arguments);
  std::uint64_t bufferBytes() const { return buffer != 0 ? buffer : rate / 8 * rtt / 1'000'000'000; }
};
