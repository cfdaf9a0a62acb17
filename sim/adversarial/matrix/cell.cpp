// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cell.h"

#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

Cell Cell::parse(const std::string &line) {
  Cell cell;
  const std::map<std::string, std::function<void(const std::string &)>> known{
      {"role", [&](const std::string &text) { cell.coreSends = text == "sender"; }},
      {"loss", [&](const std::string &text) { cell.impairment.loss = std::stod(text); }},
      {"reorder", [&](const std::string &text) { cell.impairment.reorder = std::stod(text); }},
      {"dup", [&](const std::string &text) { cell.impairment.duplicate = std::stod(text); }},
      {"corrupt", [&](const std::string &text) { cell.impairment.corrupt = std::stod(text); }},
      {"hold", [&](const std::string &text) { cell.hold = std::stod(text); }},
      {"drop",
       [&](const std::string &text) {
         std::istringstream numbers(text);
         for (std::string number; std::getline(numbers, number, ',');)
           cell.drops.insert(static_cast<unsigned>(std::stoul(number)));
       }},
      {"spike-at", [&](const std::string &text) { cell.spikeAt = std::stod(text); }},
      {"spike", [&](const std::string &text) { cell.spike = std::stod(text); }},
      {"initial-window",
       [&](const std::string &text) { cell.initialWindow = static_cast<std::uint32_t>(std::stoul(text)); }},
      {"rack", [&](const std::string &text) { cell.rack = text != "0"; }},
      {"seed", [&](const std::string &text) { cell.seed = std::stoull(text); }},
      {"sent", [&](const std::string &text) { cell.sent = text; }},
      {"received", [&](const std::string &text) { cell.received = text; }},
      {"waves", [&](const std::string &text) { cell.waves = text; }},
      {"pcap", [&](const std::string &text) { cell.pcap = text; }},
      {"wall-limit", [&](const std::string &text) { cell.wallLimit = std::stod(text); }},
  };
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const auto found = known.find(word.substr(0, equals));
    if (found == known.end() || equals == std::string::npos) throw std::invalid_argument("unknown word '" + word + "'");
    found->second(word.substr(equals + 1));
  }
  return cell;
}
