// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sites of an ECP5's logic: eight positions with a LUT and a flip-flop each, two of them a slice.
//
// The rules are nextpnr's (ecp5/arch_place.cc, `slices_compatible`).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "design.h"
#include "units.h"

/// A cell that has moved, and from where.
struct Moved {
  int cell;
  Place from;
};

class Slices {
public:
  explicit Slices(Design &design);

  std::vector<Unit> units;
  std::vector<Row> rows;

  bool isLogic(Place place) const { return inside(place) && logic_[index(place)]; }
  Place place(const Unit &unit) const { return design_.places[unit.cells[0]]; }
  Place place(const Row &row) const { return design_.places[row.cell]; }

  /// Exchanges the unit's positions with those `shift` further of another place, and all units that are half in them.
  /// Nothing happens, and false is returned, where something must stay or a rule would be broken. Cells that move are
  /// added to `moved`.
  bool exchange(int unit, Place to, int shift, std::vector<Moved> &moved);
  /// Exchanges all that is in a row's places and in those from `to` on.
  bool exchange(const Row &row, Place to, std::vector<Moved> &moved);
  /// Takes back the last exchange.
  void undo() { swap(last_); }

  /// The sites' names follow from the positions at the end.
  void name();

private:
  struct Tile {
    std::array<int, 2 * POSITIONS> slots; // cells, or -1; as Unit::slots has them
    int ramWriter = -1;
    int row = -1;
  };
  struct Rules { // for a cell
    int shared = -1, enable = -1; // a flip-flop's nets that all of a place, and the two of a slice, share
    std::uint8_t edges = 0; // flip-flops and LUT RAM: inverted clock, inverted reset or write enable
    bool takesLut = false, usesM = false, carry = false, ram = false;
  };
  struct Exchange {
    Place one, other;
    std::uint16_t slots = 0, others = 0; // none: of whole places, `length` of them
    int length = 0;
  };

  bool inside(Place place) const { return place.x >= 0 && place.y >= 0 && place.x < width_ && place.y < height_; }
  int index(Place place) const { return place.y * width_ + place.x; }
  Tile &tile(Place place) { return tiles_[index(place)]; }
  void swap(const Exchange &exchange);
  bool legal(const Tile &tile) const;
  void put(int cell, Place place) { design_.places[cell] = place; }
  void readRules();

  Design &design_;
  int width_ = 0, height_ = 0;
  std::vector<bool> logic_;
  std::vector<Tile> tiles_;
  std::vector<int> unitOf_; // by cell, or -1
  std::vector<int> position_; // by cell
  std::vector<Rules> rules_;
  Exchange last_;
};
