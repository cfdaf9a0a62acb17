// SPDX-License-Identifier: BSD-2-Clause-Patent
// Units of an ECP5's logic that move together, as a placed design has them.
//
// Carry chains and LUT RAM with the flip-flops behind them move as whole places; LUTs that make a wider function (by
// PFUMX, L6MUX21) and the flip-flops behind them as one, to positions that are wired in the same way.
#pragma once

#include <cstdint>
#include <vector>

#include "design.h"

constexpr int POSITIONS = 8; // in a place, each a LUT and a flip-flop

/// Cells that move together: LUTs, and the flip-flops that take their outputs directly; or one flip-flop.
struct Unit {
  std::vector<int> cells;
  int span = 1; // 1, 2 (a slice), 4 or 8 positions: the least, aligned to as many, that all are in
  std::uint16_t slots = 0; // bits 0 to 7: the LUTs' positions, 8 to 15: the flip-flops'
};

/// Places in a row that move as a whole: a carry chain's, or one of LUT RAM.
struct Row {
  int cell; // in the leftmost place
  int length;
};

bool isLut(const Cell &cell);
bool isRegister(const Cell &cell);
bool isChained(const Cell &cell); // a LUT of a carry chain
bool takesLut(const Cell &cell);  // a flip-flop behind the LUT of its position
int position(const Cell &cell);   // a LUT's or a flip-flop's, in its place

std::vector<Unit> unitsOf(const Design &design);
std::vector<Row> rowsOf(const Design &design);
