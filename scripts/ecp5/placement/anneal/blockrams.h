// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sites of block RAMs: in some columns, of as many rows each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "design.h"
#include "slices.h"

class BlockRams {
public:
  explicit BlockRams(Design &design);

  const std::vector<int> &cells() const { return cells_; }
  /// The site that is nearest.
  Place site(int x, int y) const;
  /// Moves one to a site, and what is there to its own.
  bool exchange(int cell, Place to, std::vector<Moved> &moved);
  void undo(const std::vector<Moved> &moved);
  void name(); // the sites' names go by the column

private:
  void put(int cell, Place place);

  Design &design_;
  std::vector<int> cells_, columns_, rows_;
  std::map<int, std::string> names_;
  std::map<std::pair<int, int>, int> at_;
};
