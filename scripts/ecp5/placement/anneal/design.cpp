// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "design.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>

namespace {

constexpr auto BEL = "NEXTPNR_BEL";

/// "X21/Y89/SLICEA.K1".
Place locate(Cell &cell, const std::string &bel) {
  Place place;
  const auto first = bel.find('/'), second = bel.find('/', first + 1);
  const auto number = [&](std::size_t begin, std::size_t end, std::int16_t &value) {
    return std::from_chars(bel.data() + begin, bel.data() + end, value).ec == std::errc();
  };
  if (second == std::string::npos || !number(1, first, place.x) || !number(first + 2, second, place.y))
    throw std::runtime_error("cell " + cell.name + " is at '" + bel + "': not a place of an ECP5");
  cell.site = bel.substr(second + 1);
  return place;
}

} // namespace

bool Pin::hasWire() const {
  static constexpr std::array<std::string_view, 15> WITHOUT{"CLK", "CLKA", "CLKB", "WCK",  "FCI",  "FCO",  "F1",  "FXA",
                                                            "FXB", "DI",   "WD",   "WAD0", "WAD1", "WAD2", "WAD3"};
  return std::ranges::find(WITHOUT, port) == WITHOUT.end();
}

int Cell::net(std::string_view port) const {
  const auto pin = std::ranges::find(pins, port, &Pin::port);
  return pin == pins.end() ? -1 : pin->net;
}

std::string Cell::parameter(std::string_view name) const {
  const auto &parameters = (*written)["parameters"];
  const auto found = parameters.find(name);
  if (found == parameters.end()) return "";
  auto text = found->get<std::string>();
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

Design::Design(const std::filesystem::path &path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + " is not there");
  json_ = nlohmann::ordered_json::parse(file);
  for (auto &[name, module] : json_["modules"].items()) // the one with most cells: others are primitives
    if (module_ == nullptr || module["cells"].size() > (*module_)["cells"].size()) module_ = &module;
  if (module_ == nullptr) throw std::runtime_error(path.string() + " has no modules");
  for (auto &[name, written] : (*module_)["cells"].items()) {
    const auto bel = written["attributes"].find(BEL);
    if (bel == written["attributes"].end()) continue;
    Cell cell{name, written["type"], {}, {}, &written};
    places.push_back(locate(cell, *bel));
    const auto &directions = written["port_directions"];
    for (const auto &[port, bits] : written["connections"].items())
      if (!bits.empty() && bits[0].is_number()) {
        cell.pins.push_back({port, bits[0].template get<int>(), directions[port] == "output"});
        nets = std::max(nets, cell.pins.back().net + 1);
      }
    cells.push_back(std::move(cell));
  }
}

void Design::write(const std::filesystem::path &path) {
  for (std::size_t number = 0; number < cells.size(); ++number) {
    std::string bel = "X";
    bel += std::to_string(places[number].x) + "/Y" + std::to_string(places[number].y) + "/" + cells[number].site;
    (*cells[number].written)["attributes"][BEL] = bel;
  }
  std::ofstream file(path);
  file << json_;
  if (!file.flush()) throw std::runtime_error(path.string() + " can't be written");
}

void Design::set(const std::string &setting, const std::string &value) { (*module_)["settings"][setting] = value; }

int Design::named(const std::string &net) const {
  const auto found = (*module_)["netnames"].find(net);
  if (found == (*module_)["netnames"].end() || (*found)["bits"].empty())
    throw std::runtime_error("no net is named " + net);
  return (*found)["bits"][0].get<int>();
}
