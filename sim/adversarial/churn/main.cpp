// SPDX-License-Identifier: BSD-2-Clause-Patent
// downbeat_churn connections|flood|blind SEED COUNT. Prints one JSON object. Exit status 0: nothing was wrong; 2: the
// object says what.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "blind.h"
#include "churn.h"
#include "flood.h"

namespace {

template <typename Part> int report(Part &part, std::uint64_t count) {
  std::string failure;
  try {
    part.run(count);
  } catch (const fuzz::Failure &what) { failure = what.what(); }
  std::printf("{\"failure\": \"%s\", %s}\n", failure.c_str(), part.report().c_str());
  return failure.empty() ? 0 : 2;
}

} // namespace

int main(int count, char **arguments) {
  if (count != 4) return std::fputs("downbeat_churn connections|flood|blind SEED COUNT\n", stderr), 1;
  const std::string part = arguments[1];
  const std::uint64_t seed = std::strtoull(arguments[2], nullptr, 10),
                      number = std::strtoull(arguments[3], nullptr, 10);
  if (part == "connections") {
    churn::Churn churn(seed);
    return report(churn, number);
  }
  if (part == "flood") {
    churn::Flood flood(seed);
    return report(flood, number);
  }
  if (part == "blind") {
    churn::Blind blind(seed);
    return report(blind, number);
  }
  return std::fputs("downbeat_churn: no such part\n", stderr), 1;
}
