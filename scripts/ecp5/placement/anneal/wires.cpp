// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "wires.h"

#include <algorithm>

namespace {

// With more wires than FAIR over a place of an ECP5 router2's conflicts become frequent.
constexpr double FAIR = 55, SLOPE = 25;
constexpr double LONGER = 0.03; // for each pin of a net of more than three,
constexpr int MAX_PINS = 40;        // but no more of them
constexpr std::size_t MANY = 12; // pins of a net whose bounds are found by counts

} // namespace

Wires::Wires(const Design &design)
    : design_(design),
      netsOf_(design.cells.size()),
      cellsOf_(design.nets),
      countsOf_(design.nets, -1),
      boxes_(design.nets),
      costs_(design.nets),
      factors_(design.nets),
      mark_(design.nets, -1) {
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number) {
    const Cell &cell = design.cells[number];
    width_ = std::max(width_, design.places[number].x + 1);
    height_ = std::max(height_, design.places[number].y + 1);
    auto &nets = netsOf_[number];
    for (const Pin &pin : cell.pins)
      if (pin.hasWire() && std::ranges::find(nets, pin.net) == nets.end()) {
        nets.push_back(pin.net);
        cellsOf_[pin.net].push_back(number);
      }
  }
  for (int net = 0; net < design.nets; ++net) {
    const auto &cells = cellsOf_[net];
    factors_[net] = cells.size() > 3 ? 1 + LONGER * std::min<int>(cells.size(), MAX_PINS) : 1;
    if (cells.size() <= MANY) continue;
    countsOf_[net] = static_cast<int>(counts_.size());
    auto &counts =
        counts_.emplace_back(Counts{std::vector<std::uint16_t>(width_), std::vector<std::uint16_t>(height_)});
    for (const int cell : cells) {
      ++counts.columns[design.places[cell].x];
      ++counts.rows[design.places[cell].y];
    }
  }
  for (auto &nets : netsOf_) // a single end is no wire
    std::erase_if(nets, [this](int net) { return cellsOf_[net].size() < 2; });
  price();
}

void Wires::price() {
  const int across = width_ + 1;
  std::vector<double> corners(static_cast<std::size_t>(across) * (height_ + 1));
  for (int net = 0; net < design_.nets; ++net) {
    if (cellsOf_[net].size() < 2) continue;
    const Box box = boxes_[net] = bounds(net);
    const double each = box.length() * factors_[net] / ((box.x1 - box.x0 + 1) * (box.y1 - box.y0 + 1));
    corners[box.y0 * across + box.x0] += each;
    corners[(box.y1 + 1) * across + box.x0] -= each;
    corners[box.y0 * across + box.x1 + 1] -= each;
    corners[(box.y1 + 1) * across + box.x1 + 1] += each;
  }
  for (int y = 0; y <= height_; ++y)
    for (int x = 1; x <= width_; ++x) corners[y * across + x] += corners[y * across + x - 1];
  for (int y = 1; y <= height_; ++y)
    for (int x = 0; x <= width_; ++x) corners[y * across + x] += corners[(y - 1) * across + x];
  const bool first = prices_.empty();
  prices_.resize(static_cast<std::size_t>(width_) * height_);
  worst_ = 0;
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x) {
      double wires = 0; // the mean with the eight places around
      for (int ny = std::max(0, y - 1); ny <= std::min(height_ - 1, y + 1); ++ny)
        for (int nx = std::max(0, x - 1); nx <= std::min(width_ - 1, x + 1); ++nx)
          wires += corners[ny * across + nx] / 9;
      worst_ = std::max(worst_, wires);
      const double beyond = std::max(0.0, wires - FAIR) / SLOPE;
      double &price = prices_[y * width_ + x];
      price = first ? 1 + beyond * beyond : (price + 1 + beyond * beyond) / 2;
    }
  sums_.assign(static_cast<std::size_t>(across) * (height_ + 1), 0);
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x)
      sums_[(y + 1) * across + x + 1] =
          prices_[y * width_ + x] + sums_[y * across + x + 1] + sums_[(y + 1) * across + x] - sums_[y * across + x];
  for (int net = 0; net < design_.nets; ++net)
    if (cellsOf_[net].size() >= 2) costs_[net] = cost(net, boxes_[net]);
}

double Wires::cost(int net, const Box &box) const {
  const int across = width_ + 1;
  const double *below = &sums_[box.y0 * across], *above = &sums_[(box.y1 + 1) * across];
  const double sum = above[box.x1 + 1] - below[box.x1 + 1] - above[box.x0] + below[box.x0];
  return box.length() * factors_[net] * sum / ((box.x1 - box.x0 + 1) * (box.y1 - box.y0 + 1));
}

Box Wires::bounds(int net) const {
  const auto &cells = cellsOf_[net];
  const Place first = design_.places[cells[0]];
  Box box{first.x, first.x, first.y, first.y};
  for (const int cell : cells) box.add(design_.places[cell]);
  return box;
}

/// The extent of a net with counts.
Box Wires::bounds(int net, Box box) const {
  const Counts &counts = counts_[countsOf_[net]];
  while (counts.columns[box.x0] == 0) ++box.x0;
  while (counts.columns[box.x1] == 0) --box.x1;
  while (counts.rows[box.y0] == 0) ++box.y0;
  while (counts.rows[box.y1] == 0) --box.y1;
  return box;
}

void Wires::count(int net, Place from, Place to) {
  Counts &counts = counts_[countsOf_[net]];
  --counts.columns[from.x];
  --counts.rows[from.y];
  ++counts.columns[to.x];
  ++counts.rows[to.y];
}

double Wires::change(const std::vector<Moved> &moved) {
  changed_.clear();
  for (const auto &[cell, from] : moved)
    for (const int net : netsOf_[cell]) {
      if (mark_[net] < 0) {
        mark_[net] = static_cast<int>(changed_.size());
        changed_.push_back({net, boxes_[net], 0});
      }
      if (countsOf_[net] >= 0) {
        changed_[mark_[net]].box.add(design_.places[cell]);
        count(net, from, design_.places[cell]);
      }
    }
  double more = 0;
  for (Changed &each : changed_) {
    mark_[each.net] = -1;
    each.box = countsOf_[each.net] >= 0 ? bounds(each.net, each.box) : bounds(each.net);
    each.cost = cost(each.net, each.box);
    more += each.cost - costs_[each.net];
  }
  return more;
}

void Wires::settle() {
  for (const Changed &each : changed_) {
    boxes_[each.net] = each.box;
    costs_[each.net] = each.cost;
  }
}

void Wires::undo(const std::vector<Moved> &moved) {
  for (const auto &[cell, from] : moved)
    for (const int net : netsOf_[cell])
      if (countsOf_[net] >= 0) count(net, design_.places[cell], from);
}

double Wires::length() const {
  double sum = 0;
  for (int net = 0; net < design_.nets; ++net)
    if (cellsOf_[net].size() >= 2) sum += boxes_[net].length();
  return sum;
}
