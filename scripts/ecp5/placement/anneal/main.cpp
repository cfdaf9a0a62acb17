// SPDX-License-Identifier: BSD-2-Clause-Patent
// anneal PLACED RESULT --grade NAME --period NET=NS ... [--seed N] [--set NAME=VALUE ...]
//
// Makes the placement of a design that nextpnr-ecp5 has placed shorter, quicker and easier to route.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "annealer.h"
#include "design.h"
#include "timing.h"

namespace {

std::pair<std::string, std::string> split(const std::string &word) { // names may have '=' in them
  const auto at = word.rfind('=');
  if (at == std::string::npos) throw std::runtime_error("'" + word + "' is not NAME=VALUE");
  return {word.substr(0, at), word.substr(at + 1)};
}

int run(const std::vector<std::string> &words) {
  if (words.size() < 2 || words.size() % 2 != 0)
    throw std::runtime_error(
        "use: anneal PLACED RESULT --grade NAME --period NET=NS ... [--seed N] [--set NAME=VALUE ...]");
  Design design(words[0]);
  std::string grade = "6";
  std::map<int, double> periods;
  std::uint64_t seed = 1;
  for (std::size_t at = 2; at < words.size(); at += 2) {
    const auto &option = words[at], &value = words[at + 1];
    if (option == "--grade") {
      grade = value;
    } else if (option == "--period") {
      const auto [net, ns] = split(value);
      periods[design.named(net)] = std::stod(ns);
    } else if (option == "--seed") {
      seed = std::stoull(value);
    } else if (option == "--set") {
      const auto [name, to] = split(value);
      design.set(name, to);
    } else {
      throw std::runtime_error("no option " + option);
    }
  }
  Timing timing(design, delaysOf(grade), periods);
  Annealer(design, timing, seed).run();
  design.write(words[1]);
  return 0;
}

} // namespace

int main(int count, char **words) {
  try {
    return run({words + 1, words + count});
  } catch (const std::exception &refused) {
    std::cerr << "anneal: " << refused.what() << '\n';
    return 1;
  }
}
