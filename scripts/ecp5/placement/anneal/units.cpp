// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "units.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace {

constexpr std::array WIDER{"F1", "FXA", "FXB"}; // inputs by which a LUT takes others' outputs

using Spot = std::pair<int, int>; // a place's row and column: places have no order
Spot spot(Place place) { return {place.y, place.x}; }

/// By each LUT those that it makes a wider function with, directly.
std::vector<std::vector<int>> joinedLuts(const Design &design) {
  std::unordered_map<int, int> driver; // by net, within wider functions
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number)
    if (isLut(design.cells[number]))
      for (const char *port : {"F", "OFX"})
        if (const int net = design.cells[number].net(port); net >= 0) driver[net] = number;
  std::vector<std::vector<int>> joined(design.cells.size());
  for (const auto &[net, number] : driver)
    for (const char *port : WIDER)
      if (const int taken = design.cells[number].net(port); taken >= 0) {
        joined[number].push_back(driver.at(taken));
        joined[driver.at(taken)].push_back(number);
      }
  for (std::vector<int> &others : joined) std::ranges::sort(others);
  return joined;
}

/// The flip-flop that takes a LUT's output, by the LUT.
std::vector<int> registersBehind(const Design &design) {
  std::map<std::pair<Spot, int>, int> luts;
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number)
    if (const Cell &cell = design.cells[number]; isLut(cell))
      luts[{spot(design.places[number]), position(cell)}] = number;
  std::vector<int> behind(design.cells.size(), -1);
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number)
    if (const Cell &cell = design.cells[number]; isRegister(cell) && takesLut(cell))
      if (const auto lut = luts.find({spot(design.places[number]), position(cell)}); lut != luts.end())
        behind[lut->second] = number;
  return behind;
}

} // namespace

bool isLut(const Cell &cell) { return cell.is("TRELLIS_COMB"); }
bool isRegister(const Cell &cell) { return cell.is("TRELLIS_FF"); }
bool isChained(const Cell &cell) { return isLut(cell) && cell.parameter("MODE") == "CCU2"; }
bool takesLut(const Cell &cell) { return cell.parameter("SD") == "1"; }
int position(const Cell &cell) { return 2 * (cell.site[5] - 'A') + (cell.site.back() - '0'); }

std::vector<Unit> unitsOf(const Design &design) {
  const std::vector<std::vector<int>> joined = joinedLuts(design);
  const std::vector<int> behind = registersBehind(design);
  std::vector<Unit> units;
  std::vector<bool> seen(design.cells.size());
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number) {
    const Cell &first = design.cells[number];
    if (seen[number] || (!isLut(first) && !(isRegister(first) && !takesLut(first)))) continue;
    Unit unit{{number}};
    seen[number] = true;
    for (std::size_t at = 0; at < unit.cells.size(); ++at) // which grows
      for (const int other : joined[unit.cells[at]])
        if (!seen[other]) {
          seen[other] = true;
          unit.cells.push_back(other);
        }
    const auto stays = [&](int cell) {
      return !design.cells[cell].parameter("MODE").empty() || design.places[cell] != design.places[number];
    };
    if (isLut(first) && std::ranges::any_of(unit.cells, stays)) continue;
    for (std::size_t luts = unit.cells.size(), lut = 0; lut < luts; ++lut)
      if (const int own = behind[unit.cells[lut]]; own >= 0) unit.cells.push_back(own);
    int lowest = POSITIONS, highest = 0;
    for (const int cell : unit.cells) {
      const int at = position(design.cells[cell]);
      lowest = std::min(lowest, at);
      highest = std::max(highest, at);
      unit.slots |= 1U << (at + (isRegister(design.cells[cell]) ? POSITIONS : 0));
    }
    while (lowest / unit.span != highest / unit.span) unit.span *= 2;
    units.push_back(std::move(unit));
  }
  return units;
}

std::vector<Row> rowsOf(const Design &design) {
  std::unordered_map<int, int> driver;
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number)
    if (const Cell &cell = design.cells[number]; isChained(cell) && cell.net("FCO") >= 0)
      driver[cell.net("FCO")] = number;
  std::map<Spot, Spot> follows; // from a place to the next one
  std::set<Spot> following;
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number)
    if (const Cell &cell = design.cells[number]; isChained(cell) && cell.net("FCI") >= 0)
      if (const auto before = driver.find(cell.net("FCI")); before != driver.end())
        if (const Place place = design.places[before->second]; place != design.places[number]) {
          follows[spot(place)] = spot(design.places[number]);
          following.insert(spot(design.places[number]));
        }
  std::vector<Row> rows;
  std::set<Spot> taken;
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number) {
    const Cell &cell = design.cells[number];
    const Spot first = spot(design.places[number]);
    if ((!isChained(cell) && !cell.is("TRELLIS_RAMW")) || following.contains(first) || !taken.insert(first).second)
      continue;
    Row row{number, 1};
    for (auto next = follows.find(first); next != follows.end(); next = follows.find(next->second)) ++row.length;
    rows.push_back(row);
  }
  return rows;
}
