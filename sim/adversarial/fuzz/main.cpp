// SPDX-License-Identifier: BSD-2-Clause-Patent
// downbeat_fuzz SEED MUTANTS [FST]: mutated frames for the Verilated core. Prints one JSON object. Exit status 0:
// nothing was wrong; 2: the object says what, and at which mutant.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzzer.h"

int main(int count, char **arguments) {
  if (count < 3) return std::fputs("downbeat_fuzz SEED MUTANTS [FST]\n", stderr), 1;
  fuzz::Fuzzer fuzzer(std::strtoull(arguments[1], nullptr, 10), count > 3 ? arguments[3] : "");
  std::string failure;
  try {
    fuzzer.run(std::strtoull(arguments[2], nullptr, 10));
  } catch (const fuzz::Failure &what) { failure = what.what(); }
  std::printf("{\"failure\": \"%s\", %s}\n", failure.c_str(), fuzzer.report().c_str());
  return failure.empty() ? 0 : 2;
}
