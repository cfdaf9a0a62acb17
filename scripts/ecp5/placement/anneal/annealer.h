// SPDX-License-Identifier: BSD-2-Clause-Patent
// Simulated annealing of a placement (Kirkpatrick et al., Science 1983), over distances that shrink as VPR's do (Betz
// and Rose, FPL 1997).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "arrivals.h"
#include "blockrams.h"
#include "design.h"
#include "slices.h"
#include "timing.h"
#include "wires.h"

class Annealer {
public:
  Annealer(Design &design, Timing &timing, std::uint64_t seed);

  /// A temperature is the cost, in tiles, of a move that happens once in e times.
  void run();
  /// The placement in figures.
  std::string figures() const;

private:
  double pass();
  int objects() const;
  bool move();
  bool moveUnit(int unit);
  bool moveRow(const Row &row);
  bool moveBlockRam(int cell);
  bool accepted();
  Place around(Place place, int reach);
  Place beside(int cell);
  int random(int below);
  double uniform();

  Design &design_;
  Timing &timing_;
  Slices slices_;
  BlockRams blockRams_;
  Wires wires_;
  Arrivals arrivals_;
  std::mt19937_64 random_;
  std::vector<Moved> moved_;
  double temperature_ = 0, reach_ = 0;
  long possible_ = 0; // moves at this temperature that break no rule
};
