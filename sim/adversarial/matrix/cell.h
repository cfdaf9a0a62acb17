// SPDX-License-Identifier: BSD-2-Clause-Patent
// One transfer of the matrix, as `python -m sim.adversarial.matrix` asks for it: a line of words name=value.
#pragma once

#include <cstdint>
#include <string>

#include "lib/path/impairments.h"

struct Cell {
  bool coreSends = true; // role: sender or receiver
  Impairment impairment;
  std::uint64_t seed = 1;
  std::string sent, received; // files: what to send, and where what arrives goes
  std::string waves, pcap;    // files to write; empty: none
  double wallLimit = 600;     // s

  /// Throws std::invalid_argument with the word that it does not know.
  static Cell parse(const std::string &line);
};
