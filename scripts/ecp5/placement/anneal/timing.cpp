// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "timing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace {

constexpr double NONE = -std::numeric_limits<double>::infinity();
// A tile more of a wire on a path that takes the whole period costs as many more, and on others by this power of their
// share.
constexpr double URGENCY = 10;
constexpr int SHARPNESS = 10;
constexpr double MIN_SHARE = 0.6,
                 MAX_SHARE = 1.1; // periods: shorter paths cost nothing, and of longer ones no more is made
constexpr double FADING = 0.978;          // factor on the urgency before

template <std::size_t count> bool isOne(const std::array<std::string_view, count> &names, const std::string &port) {
  return std::ranges::find(names, port) != names.end();
}
constexpr std::array<std::string_view, 6> RAM_WRITE{"WRE",  "WD",   "WAD0",
                                                    "WAD1", "WAD2", "WAD3"}; // LUT RAM's write ports; the others read
constexpr std::array<std::string_view, 4> CLOCKS{"CLK", "WCK", "CLKA", "CLKB"};

bool isClocked(const Cell &cell) { return cell.is("TRELLIS_FF") || cell.is("DP16KD"); }

/// Those that an output depends on directly, or that a clock takes.
bool isInput(const Pin &pin) { return !pin.drives && !isOne(CLOCKS, pin.port) && !isOne(RAM_WRITE, pin.port); }

/// The clock's net; of a block RAM that of the port's side.
int clockOf(const Cell &cell, const std::string &port) {
  if (cell.is("TRELLIS_FF")) return cell.net("CLK");
  const auto side = port.find_last_not_of("0123456789");
  return cell.net(std::string("CLK") + port[side]);
}

double clockToOutput(const Cell &cell, const std::string &port, const Delays &delays) {
  if (cell.is("TRELLIS_FF")) return delays.registered;
  return cell.parameter(std::string("REGMODE_") + port[2]) == "OUTREG" ? delays.outputRegister : delays.blockRam;
}

/// From an input to an output; none where a clock is between.
double through(const Cell &cell, const std::string &input, const std::string &output, const Delays &delays) {
  if (cell.is("MULT18X18D")) return delays.multiplier;
  if (cell.is("TRELLIS_RAMW")) return 0;
  if (!cell.is("TRELLIS_COMB")) return NONE;
  if (input == "FCI") return output == "FCO" ? delays.carry : output == "F" ? delays.outOfCarry : delays.lut;
  return output == "FCO" ? delays.intoCarry : delays.lut;
}

} // namespace

const Delays &delaysOf(const std::string &grade) {
  static const std::map<std::string, Delays> grades{
      {"6", {0.6, 0.055, 0.52, 5.83, 0.96, 0.24, 0.45, 0.04, 0.43, 5.2}},
      {"8", {0.5, 0.05, 0.395, 4.1, 0.74, 0.18, 0.36, 0.03, 0.35, 3.1}},
      {"8_5G", {0.4, 0.04, 0.31, 1.42, 0.24, 0.15, 0.28, 0.02, 0.25, 3.0}}};
  const auto found = grades.find(grade);
  if (found == grades.end())
    throw std::runtime_error("no delays are known of speed grade " + grade + "; there are 6, 8, 8_5G");
  return found->second;
}

Timing::Timing(const Design &design, const Delays &delays, const std::map<int, double> &periods)
    : design_(design),
      delays_(delays),
      drivers_(design.nets, -1),
      pulls_(design.cells.size()),
      settled_(design.places) {
  for (const auto &[clock, period] : periods) domains_.push_back({period, {}, {}});
  for (int number = 0; number < static_cast<int>(design.cells.size()); ++number) {
    const Cell &cell = design.cells[number];
    for (const Pin &pin : cell.pins) {
      if (pin.drives) drivers_[pin.net] = number;
      if (isInput(pin))
        for (const Pin &output : cell.pins)
          if (const double ns = output.drives ? through(cell, pin.port, output.port, delays) : NONE; ns != NONE)
            arcs_.push_back({pin.net, number, output.net, pin.hasWire(), ns});
      const bool written = isOne(RAM_WRITE, pin.port) && cell.net("WCK") >= 0;
      if (!written && !(isClocked(cell) && (pin.drives || isInput(pin)))) continue;
      const auto found = periods.find(written ? cell.net("WCK") : clockOf(cell, pin.port));
      if (found == periods.end()) continue;
      Domain &domain = domains_[std::distance(periods.begin(), found)];
      if (pin.drives)
        domain.starts.push_back({pin.net, clockToOutput(cell, pin.port, delays)});
      else
        domain.ends.push_back({pin.net, number, -1, pin.hasWire(), 0});
    }
  }
  sortArcs();
}

/// Those of loops are left out.
void Timing::sortArcs() {
  std::vector<std::vector<int>> leaving(design_.nets);
  std::vector<int> arriving(design_.nets);
  for (int number = 0; number < static_cast<int>(arcs_.size()); ++number) {
    leaving[arcs_[number].source].push_back(number);
    ++arriving[arcs_[number].result];
  }
  std::vector<int> ready;
  for (int net = 0; net < design_.nets; ++net)
    if (arriving[net] == 0) ready.push_back(net);
  std::vector<Arc> sorted;
  sorted.reserve(arcs_.size());
  for (std::size_t at = 0; at < ready.size(); ++at) // which grows
    for (const int number : leaving[ready[at]]) {
      sorted.push_back(arcs_[number]);
      if (--arriving[arcs_[number].result] == 0) ready.push_back(arcs_[number].result);
    }
  arcs_ = std::move(sorted);
}

double Timing::wait(const Arc &arc) const {
  if (!arc.wired || drivers_[arc.source] < 0) return arc.ns;
  return arc.ns + delays_.wire +
         delays_.tile * distance(design_.places[drivers_[arc.source]], design_.places[arc.cell]);
}

void Timing::follow() {
  for (auto &pulls : pulls_) { // slowly, so that paths do not take turns at being the longest
    for (Pull &pull : pulls) pull.share *= FADING;
    std::erase_if(pulls, [](const Pull &pull) { return pull.share < MIN_SHARE; });
  }
  longest_.clear();
  for (const Domain &domain : domains_) {
    std::vector<double> before(design_.nets, NONE), after(design_.nets, NONE);
    for (const Start &start : domain.starts) before[start.net] = start.ns;
    for (const Arc &arc : arcs_) before[arc.result] = std::max(before[arc.result], before[arc.source] + wait(arc));
    double longest = 0;
    for (const Arc &end : domain.ends) {
      after[end.source] = std::max(after[end.source], wait(end));
      longest = std::max(longest, before[end.source] + wait(end));
    }
    for (auto arc = arcs_.rbegin(); arc != arcs_.rend(); ++arc)
      after[arc->source] = std::max(after[arc->source], after[arc->result] + wait(*arc));
    longest_.push_back(longest / domain.period);
    const double tile = delays_.tile / domain.period;
    for (const Arc &arc : arcs_) pull(arc, (before[arc.source] + wait(arc) + after[arc.result]) / domain.period, tile);
    for (const Arc &end : domain.ends) pull(end, (before[end.source] + wait(end)) / domain.period, tile);
  }
}

/// Adds a wire's pull: `share` of the period is its path's, `tile` a tile's.
void Timing::pull(const Arc &arc, double share, double tile) {
  const int driver = drivers_[arc.source];
  if (!arc.wired || driver < 0 || share < MIN_SHARE) return;
  const int length = distance(design_.places[driver], design_.places[arc.cell]);
  for (const auto &[one, other] : {std::pair{driver, arc.cell}, {arc.cell, driver}}) {
    const Pull latest{other, std::min(share, MAX_SHARE), length, tile};
    const auto found = std::ranges::find(pulls_[one], other, &Pull::other);
    if (found == pulls_[one].end())
      pulls_[one].push_back(latest);
    else if (found->cost(length) < latest.cost(length))
      *found = latest;
  }
}

/// The cost of all tiles up to that length: the first tile's alone would let a cell leap far.
double Timing::Pull::cost(int longer) const {
  const double path = std::max(0.0, share + tile * (longer - length));
  double power = path;
  for (int factor = 0; factor < SHARPNESS; ++factor) power *= path;
  return URGENCY / (SHARPNESS + 1) / tile * power;
}

double Timing::change(const std::vector<Moved> &moved) const {
  double more = 0;
  for (const auto &[cell, from] : moved)
    for (const Pull &pull : pulls_[cell]) {
      const int before = distance(from, settled_[pull.other]),
                after = distance(design_.places[cell], design_.places[pull.other]);
      if (before != after) more += pull.cost(after) - pull.cost(before);
    }
  return more;
}

void Timing::settle(const std::vector<Moved> &moved) {
  for (const auto &[cell, from] : moved) settled_[cell] = design_.places[cell];
}
