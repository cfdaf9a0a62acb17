// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "slices.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace {

constexpr int RAM_WRITE_SLICE = 2; // its LUTs are unusable where LUT RAM is written

std::uint8_t edges(const Cell &cell, const char *clock, const char *other) {
  return static_cast<std::uint8_t>(2 * (cell.parameter(clock) == "INV") + (cell.parameter(other) == "INV"));
}

/// A number for each different value.
template <typename Value> class Numbers {
public:
  int of(const Value &value) { return numbers_.try_emplace(value, static_cast<int>(numbers_.size())).first->second; }

private:
  std::map<Value, int> numbers_;
};

std::uint16_t shifted(unsigned slots, int shift) {
  return static_cast<std::uint16_t>(shift >= 0 ? slots << shift : slots >> -shift);
}

/// All slots stay within their eight positions.
bool staysWithin(unsigned slots, int shift) {
  const unsigned luts = slots & 0xff, registers = slots >> 8;
  const auto fits = [shift](unsigned eight) {
    return shift >= 0 ? (eight << shift) < 0x100 : ((eight >> -shift) << -shift) == eight;
  };
  return fits(luts) && fits(registers);
}

} // namespace

Slices::Slices(Design &design)
    : units(unitsOf(design)),
      rows(rowsOf(design)),
      design_(design),
      unitOf_(design.cells.size(), -1),
      position_(design.cells.size(), -1) {
  for (const Place place : design.places) {
    width_ = std::max(width_, place.x + 1);
    height_ = std::max(height_, place.y + 1);
  }
  tiles_.resize(static_cast<std::size_t>(width_) * height_);
  for (Tile &tile : tiles_) tile.slots.fill(-1);
  logic_.resize(tiles_.size());
  std::map<int, std::pair<int, int>> used; // Nothing says where slices are, but that rows of them have no gaps.
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number) {
    const Cell &cell = design.cells[number];
    const Place at = design.places[number];
    if (cell.is("TRELLIS_RAMW")) tile(at).ramWriter = number;
    if (!isLut(cell) && !isRegister(cell)) continue;
    position_[number] = position(cell);
    tile(at).slots[position_[number] + (isRegister(cell) ? POSITIONS : 0)] = number;
    const auto [row, first] = used.try_emplace(at.y, at.x, at.x);
    row->second = {std::min<int>(row->second.first, at.x), std::max<int>(row->second.second, at.x)};
  }
  for (const auto &[y, xs] : used)
    for (int x = xs.first; x <= xs.second; ++x)
      logic_[index({static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)})] = true;
  readRules();
  for (std::size_t unit = 0; unit < units.size(); ++unit)
    for (const int cell : units[unit].cells) unitOf_[cell] = static_cast<int>(unit);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (int at = 0; at < rows[row].length; ++at) tiles_[index(place(rows[row])) + at].row = static_cast<int>(row);
}

void Slices::readRules() {
  Numbers<std::tuple<int, int, int, bool>> shared;
  Numbers<std::tuple<int, std::string, std::string>> enables;
  rules_.resize(design_.cells.size());
  for (std::size_t number = 0; number < design_.cells.size(); ++number) {
    const Cell &cell = design_.cells[number];
    Rules &rules = rules_[number];
    if (isRegister(cell)) {
      rules.edges = edges(cell, "CLKMUX", "LSRMUX");
      rules.shared = shared.of({cell.net("CLK"), cell.net("LSR"), rules.edges, cell.parameter("SRMODE") == "ASYNC"});
      rules.enable = enables.of({cell.net("CE"), cell.parameter("CEMUX"), cell.parameter("GSR")});
      rules.takesLut = takesLut(cell);
    } else if (isLut(cell)) {
      rules.carry = isChained(cell);
      rules.ram = cell.parameter("MODE") == "DPRAM";
      rules.edges = edges(cell, "WCKMUX", "WREMUX");
      rules.usesM = cell.net("OFX") >= 0; // input M selects: then no flip-flop takes it
    }
  }
}

bool Slices::legal(const Tile &tile) const {
  int shared = -1, edges = -1;
  for (int at = 0; at < POSITIONS; ++at) {
    const int lut = tile.slots[at], before = tile.slots[at ^ 1], own = tile.slots[POSITIONS + at];
    if (lut >= 0 && unitOf_[lut] >= 0 && tile.ramWriter >= 0 && at / 2 == RAM_WRITE_SLICE) return false;
    if (lut >= 0 && before >= 0 && rules_[lut].carry != rules_[before].carry) return false;
    if (lut >= 0 && rules_[lut].ram) edges = rules_[lut].edges;
    if (own < 0) continue;
    if (lut >= 0 && rules_[lut].usesM && !rules_[own].takesLut) return false;
    if (const int beside = tile.slots[POSITIONS + (at ^ 1)]; beside >= 0 && rules_[beside].enable != rules_[own].enable)
      return false;
    if (shared >= 0 && rules_[own].shared != shared) return false;
    shared = rules_[own].shared;
  }
  if (edges >= 0 && shared >= 0)
    for (int at = 0; at < POSITIONS; ++at)
      if (const int own = tile.slots[POSITIONS + at]; own >= 0 && rules_[own].edges != edges) return false;
  return true;
}

bool Slices::exchange(int unit, Place to, int shift, std::vector<Moved> &moved) {
  const Place from = place(units[unit]);
  if (to == from || !isLogic(to)) return false;
  Tile &here = tile(from), &there = tile(to);
  unsigned slots = units[unit].slots, seen = 0;
  std::uint16_t others = 0;
  std::array<int, 2 * POSITIONS> exchanged;
  int count = 0;
  while (slots !=
         seen) { // units that are half in the slots take the rest of theirs along, and what is there comes back
    if (!staysWithin(slots, shift)) return false;
    others = shifted(slots, shift);
    for (unsigned at = slots & ~seen; at != 0; at &= at - 1) {
      const int slot = __builtin_ctz(at);
      for (const int cell : {here.slots[slot], there.slots[slot + shift]})
        if (cell >= 0 && unitOf_[cell] < 0) return false;
    }
    unsigned wanted = slots;
    for (unsigned at = slots & ~seen; at != 0; at &= at - 1) {
      const int slot = __builtin_ctz(at);
      for (const bool back : {false, true})
        if (const int cell = back ? there.slots[slot + shift] : here.slots[slot]; cell >= 0) {
          const Unit &other = units[unitOf_[cell]];
          if (shift % other.span != 0 || (back && !staysWithin(other.slots, -shift))) return false;
          wanted |= back ? shifted(other.slots, -shift) : other.slots;
          if (std::find(exchanged.begin(), exchanged.begin() + count, unitOf_[cell]) == exchanged.begin() + count) {
            if (count == static_cast<int>(exchanged.size())) return false;
            exchanged[count++] = unitOf_[cell];
          }
        }
    }
    seen = slots;
    slots = wanted;
  }
  last_ = {from, to, static_cast<std::uint16_t>(slots), others, 0};
  swap(last_);
  if (!legal(here) || !legal(there)) {
    swap(last_);
    return false;
  }
  for (int at = 0; at < count; ++at)
    for (const int cell : units[exchanged[at]].cells) moved.push_back({cell, design_.places[cell] == to ? from : to});
  return true;
}

bool Slices::exchange(const Row &row, Place to, std::vector<Moved> &moved) {
  const Place from = place(row);
  if (from.y == to.y && std::abs(from.x - to.x) < row.length) return false;
  for (int at = 0; at < row.length; ++at) { // every other row that is there at all is there whole
    const Place place{static_cast<std::int16_t>(to.x + at), to.y};
    if (!isLogic(place)) return false;
    if (const int other = tile(place).row; other >= 0) {
      const int first = rows[other].length > row.length ? -1 : this->place(rows[other]).x;
      if (first < to.x || first + rows[other].length > to.x + row.length) return false;
    }
  }
  last_ = {from, to, 0, 0, row.length};
  swap(last_);
  for (int at = 0; at < row.length; ++at)
    for (const bool back : {false, true}) {
      const Place now{static_cast<std::int16_t>((back ? from : to).x + at), (back ? from : to).y};
      const Place was{static_cast<std::int16_t>((back ? to : from).x + at), (back ? to : from).y};
      const Tile &there = tile(now);
      for (const int cell : there.slots)
        if (cell >= 0) moved.push_back({cell, was});
      if (there.ramWriter >= 0) moved.push_back({there.ramWriter, was});
    }
  return true;
}

void Slices::swap(const Exchange &exchange) {
  if (exchange.length > 0) {
    for (int at = 0; at < exchange.length; ++at) {
      const Place one{static_cast<std::int16_t>(exchange.one.x + at), exchange.one.y};
      const Place other{static_cast<std::int16_t>(exchange.other.x + at), exchange.other.y};
      std::swap(tile(one), tile(other));
      for (const Place place : {one, other}) {
        for (const int cell : tile(place).slots)
          if (cell >= 0) put(cell, place);
        if (tile(place).ramWriter >= 0) put(tile(place).ramWriter, place);
      }
    }
    return;
  }
  Tile &one = tile(exchange.one), &other = tile(exchange.other);
  const int shift = __builtin_ctz(exchange.others) - __builtin_ctz(exchange.slots);
  for (unsigned at = exchange.slots; at != 0; at &= at - 1) {
    const int slot = __builtin_ctz(at);
    std::swap(one.slots[slot], other.slots[slot + shift]);
    for (const auto &[cell, place, changed] :
         {std::tuple{one.slots[slot], exchange.one, -shift}, {other.slots[slot + shift], exchange.other, shift}})
      if (cell >= 0) {
        Unit &unit = units[unitOf_[cell]];
        if (cell == unit.cells[0]) unit.slots = shifted(unit.slots, changed);
        position_[cell] += changed;
        put(cell, place);
      }
  }
}

void Slices::name() {
  for (std::size_t number = 0; number < design_.cells.size(); ++number)
    if (position_[number] >= 0)
      design_.cells[number].site = std::string("SLICE") + static_cast<char>('A' + position_[number] / 2) +
                                   (isRegister(design_.cells[number]) ? ".FF" : ".K") +
                                   std::to_string(position_[number] % 2);
}
