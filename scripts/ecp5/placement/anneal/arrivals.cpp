// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "arrivals.h"

#include <algorithm>

namespace {

constexpr double LIMIT = 15; // before conflicts become frequent in an ECP5
constexpr double WEIGHT = 1.5; // tiles of wire for an excess of one, squared

double costs(int sum) {
  const double excess = std::max(0.0, sum / 9.0 - LIMIT);
  return WEIGHT * excess * excess;
}

} // namespace

Arrivals::Arrivals(const Design &design) : design_(design), arriving_(design.cells.size()) {
  for (const Place place : design.places) {
    width_ = std::max(width_, place.x + 3); // with a margin around
    height_ = std::max(height_, place.y + 3);
  }
  ends_.resize(static_cast<std::size_t>(width_) * height_);
  counted_.resize(ends_.size());
  sums_.resize(ends_.size());
  isTouched_.resize(ends_.size());
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number) {
    const Cell &cell = design.cells[number];
    if (!cell.kind.starts_with("TRELLIS_") || !cell.site.starts_with("SLICE")) continue;
    for (const Pin &pin : cell.pins)
      if (!pin.drives && pin.hasWire()) arriving_[number].push_back(pin.net);
    arrive(number, design.places[number]);
  }
  recount();
}

void Arrivals::arrive(int cell, Place place) {
  Ends &ends = ends_[index(place)];
  for (const int net : arriving_[cell]) {
    const auto found = std::ranges::find(ends, net, &Ends::value_type::first);
    if (found == ends.end())
      ends.emplace_back(net, 1);
    else
      ++found->second;
  }
  touch(place);
}

void Arrivals::leave(int cell, Place place) {
  Ends &ends = ends_[index(place)];
  for (const int net : arriving_[cell]) {
    const auto found = std::ranges::find(ends, net, &Ends::value_type::first);
    if (--found->second == 0) {
      *found = ends.back();
      ends.pop_back();
    }
  }
  touch(place);
}

void Arrivals::touch(Place place) {
  if (!isTouched_[index(place)]) touched_.push_back(place);
  isTouched_[index(place)] = true;
}

/// Updates the places that were touched; returns their additional cost.
double Arrivals::recount() {
  double more = 0;
  for (const Place place : touched_) {
    isTouched_[index(place)] = false;
    const int nets = static_cast<int>(ends_[index(place)].size()), by = nets - counted_[index(place)];
    counted_[index(place)] = nets;
    if (by == 0) continue;
    for (int y = std::max(0, place.y - 1); y <= place.y + 1; ++y)
      for (int x = std::max(0, place.x - 1); x <= place.x + 1; ++x) {
        int &sum = sums_[y * width_ + x];
        more += costs(sum + by) - costs(sum);
        sum += by;
      }
  }
  touched_.clear();
  return more;
}

double Arrivals::change(const std::vector<Moved> &moved) {
  for (const auto &[cell, from] : moved)
    if (!arriving_[cell].empty()) {
      leave(cell, from);
      arrive(cell, design_.places[cell]);
    }
  return recount();
}

void Arrivals::undo(const std::vector<Moved> &moved) {
  for (const auto &[cell, from] : moved)
    if (!arriving_[cell].empty()) {
      leave(cell, design_.places[cell]);
      arrive(cell, from);
    }
  recount();
}
