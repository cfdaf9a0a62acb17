// SPDX-License-Identifier: BSD-2-Clause-Patent
// How much of its clock's period the longest path over a wire takes, by where cells are: before anything is routed.
//
// Cells are as slow as nextpnr reports them. Wires are as slow as it routed them in boards' designs: about a
// least-squares fit over critical paths. Its own estimate for speed grade 8 is 0.01 ns a tile, and so its placers let
// paths cross the chip.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "design.h"
#include "slices.h"

/// ns.
struct Delays {
  double wire;
  double tile; // a wire's delay over a tile
  double registered; // clock to output
  double blockRam, outputRegister; // likewise, of a block RAM
  double lut;
  double intoCarry, carry, outOfCarry;
  double multiplier;
};

/// For a device's speed grade as nextpnr's database names it: 6, 8, 8_5G.
const Delays &delaysOf(const std::string &grade);

/// The paths that begin and end by one clock.
class Timing {
public:
  /// `periods`, ns, are by the clock's net.
  Timing(const Design &design, const Delays &delays, const std::map<int, double> &periods);

  /// Analyses the present placement; wires of long paths cost by it from then on.
  void follow();
  /// The longest paths, as shares of their clocks' periods.
  const std::vector<double> &longest() const { return longest_; }
  /// Additional cost of the moved cells' wires by their paths, tiles. Wires between two of the cells count twice.
  double change(const std::vector<Moved> &moved) const;
  void settle(const std::vector<Moved> &moved);

private:
  struct Arc { // from a net to an input of a cell, and, if not a path's end, through it to a net that it drives
    int source, cell, result;
    bool wired;
    double ns;
  };
  struct Start {
    int net;
    double ns;
  };
  struct Domain {
    double period;
    std::vector<Start> starts;
    std::vector<Arc> ends;
  };
  struct Pull { // towards another cell
    int other;
    double share; // the path's share of its clock's period
    int length;   // the wire's length at that share, tiles
    double tile;  // a further tile's share
    double cost(int longer) const; // at that length
  };

  void sortArcs();
  double wait(const Arc &arc) const;
  void pull(const Arc &arc, double share, double tile);

  const Design &design_;
  Delays delays_;
  std::vector<int> drivers_; // by net: its cell, or -1
  std::vector<Arc> arcs_; // each behind those that lead to its source
  std::vector<Domain> domains_;
  std::vector<double> longest_;
  std::vector<std::vector<Pull>> pulls_; // by cell
  std::vector<Place> settled_; // by cell
};
