// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "annealer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace {

// As often as a unit of LUTs and flip-flops is tried, a row of carries and a block RAM is: they have more wires.
constexpr int ROW_TRIES = 2, BLOCK_RAM_TRIES = 12;
constexpr double BESIDE = 0.25; // share of moves that go to something a cell is connected to
constexpr int NEAR = 3;         // tiles around it
constexpr int FURTHEST = 60;    // tiles that a move may go at first, each way
constexpr int ROWS_APART = 24;  // tiles between rows of block RAM
constexpr std::size_t MANY = 40; // cells on a net that says nothing of where they should be
constexpr double HOTTEST = 20, COLDEST = 0.03; // tiles
constexpr double COOLER = 0.93, FASTER = 0.8; // from one temperature to the next; once there are
constexpr double FEW = 0.05;                  // share of moves that are taken
constexpr int EFFORT = 24;                    // tries of each object at a temperature,
constexpr long FEWEST = 1000;                 // but no fewer than these of all

} // namespace

Annealer::Annealer(Design &design, Timing &timing, std::uint64_t seed)
    : design_(design),
      timing_(timing),
      slices_(design),
      blockRams_(design),
      wires_(design),
      arrivals_(design),
      random_(seed) {}

void Annealer::run() {
  reach_ = FURTHEST;
  timing_.follow();
  std::cout << "  placed: " << figures() << std::endl;
  for (temperature_ = HOTTEST; temperature_ > COLDEST;) {
    const double share = pass();
    temperature_ *= share < FEW ? FASTER : COOLER;
  }
  temperature_ = 0;
  pass();
  timing_.follow();
  std::cout << "  annealed: " << figures() << std::endl;
  slices_.name();
  blockRams_.name();
}

/// At one temperature; returns the share of moves that were taken, of those that break no rule.
double Annealer::pass() {
  wires_.price();
  const long tries = std::max(static_cast<long>(EFFORT) * objects(), FEWEST);
  long accepted = 0;
  possible_ = 0;
  for (long at = 0; at < tries && objects() > 0; ++at) {
    if (at % objects() == 0) timing_.follow();
    accepted += move();
  }
  const double share = static_cast<double>(accepted) / static_cast<double>(std::max(1L, possible_));
  std::printf("  %6.3f tiles, %4.1f%% of %ld moves, up to %2.0f tiles: %s\n", temperature_, 100 * share, possible_,
              reach_, figures().c_str());
  std::fflush(stdout);
  reach_ = std::clamp(reach_ * (1 - 0.44 + share), 2.0, static_cast<double>(FURTHEST));
  return share;
}

int Annealer::objects() const {
  return static_cast<int>(slices_.units.size() + ROW_TRIES * slices_.rows.size() +
                          BLOCK_RAM_TRIES * blockRams_.cells().size());
}

std::string Annealer::figures() const {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::fixed;
  text.precision(0);
  text << wires_.length() << " tiles of wire, " << wires_.worst() << " over the worst place, paths of ";
  text.precision(2);
  for (std::size_t at = 0; at < timing_.longest().size(); ++at) text << (at > 0 ? ", " : "") << timing_.longest()[at];
  text << " of their clocks' periods";
  return text.str();
}

bool Annealer::move() {
  const int units = static_cast<int>(slices_.units.size()), rows = static_cast<int>(slices_.rows.size());
  int drawn = random(objects());
  moved_.clear();
  if (drawn < units) return moveUnit(drawn);
  drawn -= units;
  if (drawn < ROW_TRIES * rows) return moveRow(slices_.rows[drawn % rows]);
  return moveBlockRam(blockRams_.cells()[(drawn - ROW_TRIES * rows) / BLOCK_RAM_TRIES]);
}

bool Annealer::moveUnit(int unit) {
  const Unit &moving = slices_.units[unit];
  const Place to = uniform() < BESIDE ? beside(moving.cells[random(static_cast<int>(moving.cells.size()))])
                                      : around(slices_.place(moving), static_cast<int>(reach_));
  const unsigned either = (moving.slots | moving.slots >> POSITIONS) & 0xff;
  const int first = __builtin_ctz(either) / moving.span * moving.span;
  const int choices = POSITIONS / moving.span, begin = random(choices);
  for (int at = 0; at < choices; ++at)
    if (slices_.exchange(unit, to, (begin + at) % choices * moving.span - first, moved_)) {
      if (accepted()) return true;
      slices_.undo();
      return false;
    }
  return false;
}

bool Annealer::moveRow(const Row &row) {
  Place to = around(slices_.place(row), static_cast<int>(reach_));
  if (uniform() < BESIDE) to = beside(row.cell);
  if (!slices_.exchange(row, to, moved_)) return false;
  if (accepted()) return true;
  slices_.undo();
  return false;
}

bool Annealer::moveBlockRam(int cell) {
  const Place at = design_.places[cell], near = around(at, std::max(static_cast<int>(reach_), ROWS_APART));
  const Place other = uniform() < BESIDE ? beside(cell) : near;
  if (!blockRams_.exchange(cell, blockRams_.site(other.x, other.y), moved_)) return false;
  if (accepted()) return true;
  blockRams_.undo(moved_);
  return false;
}

/// Whether cells that have moved may be where they are; else they are about to go back.
bool Annealer::accepted() {
  ++possible_;
  const double allowed = temperature_ > 0 ? -temperature_ * std::log(1 - uniform()) : 0;
  const double more = wires_.change(moved_) + timing_.change(moved_) + arrivals_.change(moved_);
  if (more > allowed) {
    wires_.undo(moved_);
    arrivals_.undo(moved_);
    return false;
  }
  wires_.settle();
  timing_.settle(moved_);
  return true;
}

Place Annealer::around(Place place, int reach) {
  const int x = place.x + random(2 * reach + 1) - reach, y = place.y + random(2 * reach + 1) - reach;
  return {static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)};
}

/// Near a cell on one of the cell's nets.
Place Annealer::beside(int cell) {
  const Place at = design_.places[cell];
  const auto &nets = wires_.of(cell);
  if (nets.empty()) return around(at, NEAR);
  const auto &cells = wires_.cellsOf(nets[random(static_cast<int>(nets.size()))]);
  return cells.size() > MANY ? around(at, NEAR)
                             : around(design_.places[cells[random(static_cast<int>(cells.size()))]], NEAR);
}

int Annealer::random(int below) { return static_cast<int>(uniform() * below); }

double Annealer::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
