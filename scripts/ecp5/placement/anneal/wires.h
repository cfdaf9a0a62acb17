// SPDX-License-Identifier: BSD-2-Clause-Patent
// Cost of wires: by their length, and by how crowded their way is.
#pragma once

#include <algorithm>
#include <vector>

#include "design.h"
#include "slices.h"

struct Box {
  int x0, x1, y0, y1;
  int length() const { return x1 - x0 + y1 - y0; }
  void add(Place place) {
    x0 = std::min<int>(x0, place.x);
    x1 = std::max<int>(x1, place.x);
    y0 = std::min<int>(y0, place.y);
    y1 = std::max<int>(y1, place.y);
  }
};

/// A net costs its half-perimeter, more if it has many pins (wires of many are longer), at the mean price over its
/// bounds.
///
/// A tile's price is 1, and more by the square where more wires go over it than `FAIR`. Wires over a tile are estimated
/// by RUDY (Spindler and Johannes, DATE 2007): a net's length, spread over its bounds.
class Wires {
public:
  explicit Wires(const Design &design);

  /// Nets that a cell's pins are on, each once.
  const std::vector<int> &of(int cell) const { return netsOf_[cell]; }
  const std::vector<int> &cellsOf(int net) const { return cellsOf_[net]; }

  /// Prices by the present placement, half, and by those before.
  void price();
  /// Additional cost of the moved cells' wires; to be settled or undone.
  double change(const std::vector<Moved> &moved);
  void settle();
  void undo(const std::vector<Moved> &moved);

  double length() const; // all nets' half-perimeters, tiles
  double worst() const { return worst_; } // wires over a tile at most, by the last pricing

private:
  struct Counts { // a net's pins, by column and row: for nets of many
    std::vector<std::uint16_t> columns, rows;
  };
  double cost(int net, const Box &box) const;
  Box bounds(int net) const;
  Box bounds(int net, Box around) const;
  void count(int net, Place from, Place to);

  const Design &design_;
  int width_ = 0, height_ = 0;
  std::vector<std::vector<int>> netsOf_, cellsOf_;
  std::vector<int> countsOf_; // by net, or -1
  std::vector<Counts> counts_;
  std::vector<Box> boxes_;
  std::vector<double> costs_;
  std::vector<double> factors_;
  std::vector<double> prices_, sums_;
  double worst_ = 0;

  struct Changed {
    int net;
    Box box;
    double cost;
  };
  std::vector<Changed> changed_;
  std::vector<int> mark_; // by net: place in `changed_`
};
