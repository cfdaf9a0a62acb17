// SPDX-License-Identifier: BSD-2-Clause-Patent
// How many nets end in a place.
#pragma once

#include <utility>
#include <vector>

#include "design.h"
#include "slices.h"

/// Nets that end in a place of logic, as the mean of it and the eight around it: more than `LIMIT` cost their excess
/// squared.
class Arrivals {
public:
  explicit Arrivals(const Design &design);

  /// Cells have moved; returns what that costs more.
  double change(const std::vector<Moved> &moved);
  /// Cells that have moved are going back.
  void undo(const std::vector<Moved> &moved);

private:
  using Ends = std::vector<std::pair<int, int>>; // nets, and the pins that they end at
  int index(Place place) const { return place.y * width_ + place.x; }
  void arrive(int cell, Place place);
  void leave(int cell, Place place);
  void touch(Place place);
  double recount();

  const Design &design_;
  int width_ = 0, height_ = 0;
  std::vector<std::vector<int>> arriving_; // by cell
  std::vector<Ends> ends_;
  std::vector<int> counted_, sums_; // by place: nets, and the sum of these with the eight around
  std::vector<Place> touched_;
  std::vector<bool> isTouched_;
};
