// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "blockrams.h"

#include <algorithm>
#include <set>

namespace {

int nearest(const std::vector<int> &numbers, int wanted) {
  return *std::ranges::min_element(numbers, {}, [wanted](int number) { return std::abs(number - wanted); });
}

} // namespace

/// Nothing says where else sites are, but that each column which has one has them in the same rows.
BlockRams::BlockRams(Design &design) : design_(design) {
  std::set<int> rows;
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number)
    if (const Cell &cell = design.cells[number]; cell.is("DP16KD")) {
      cells_.push_back(number);
      const Place place = design.places[number];
      names_[place.x] = cell.site;
      rows.insert(place.y);
      at_[{place.x, place.y}] = number;
    }
  for (const auto &[x, site] : names_) columns_.push_back(x);
  rows_.assign(rows.begin(), rows.end());
}

Place BlockRams::site(int x, int y) const {
  return {static_cast<std::int16_t>(nearest(columns_, x)), static_cast<std::int16_t>(nearest(rows_, y))};
}

bool BlockRams::exchange(int cell, Place to, std::vector<Moved> &moved) {
  const Place from = design_.places[cell];
  if (to == from) return false;
  const auto other = at_.find({to.x, to.y});
  const int there = other == at_.end() ? -1 : other->second;
  at_.erase({from.x, from.y});
  put(cell, to);
  moved.push_back({cell, from});
  if (there >= 0) {
    put(there, from);
    moved.push_back({there, to});
  }
  return true;
}

void BlockRams::undo(const std::vector<Moved> &moved) {
  for (const auto &[cell, from] : moved) at_.erase({design_.places[cell].x, design_.places[cell].y});
  for (const auto &[cell, from] : moved) put(cell, from);
}

void BlockRams::put(int cell, Place place) {
  design_.places[cell] = place;
  at_[{place.x, place.y}] = cell;
}

void BlockRams::name() {
  for (const int cell : cells_) design_.cells[cell].site = names_.at(design_.places[cell].x);
}
