// SPDX-License-Identifier: BSD-2-Clause-Patent
// One transfer of the matrix, as `python -m sim.adversarial.matrix` asks for it: a line of words name=value.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "lib/path/impairments.h"

struct Cell {
  bool coreSends = true; // role: sender or receiver
  Impairment impairment;
  std::uint64_t seed = 1;
  double hold = 0.003;          // s, the longest that a frame is held back
  std::set<unsigned> drops;     // segments of the core with data, by their number from 1 on
  double spikeAt = 0, spike = 0; // s: what leaves in `spike` from `spikeAt` after the first data on arrives at its end
  std::uint32_t initialWindow = 0; // segments; 0: the library's
  bool rack = true; // RACK, tail loss probes, undo and the limit of growth
  std::string sent, received; // files: what to send, and where what arrives goes
  std::string waves, pcap; // files to write; empty: none
  double wallLimit = 600; // s

  /// Throws std::invalid_argument with the word that it does not know.
  static Cell parse(const std::string &line);
};
