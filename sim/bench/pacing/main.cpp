// SPDX-License-Identifier: BSD-2-Clause-Patent
// Prints one JSON object. Exit status 0: nothing was wrong; 2: the object says what.
//   pacing_bench order SEED COUNT | rate SEED RATE MILLISECONDS | changes SEED COUNT | flight SEGMENTS NANOSECONDS
//   LENGTH
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "module.h"
#include "order.h"
#include "rates.h"

int main(int count, char **arguments) {
  const std::string part = count > 1 ? arguments[1] : "";
  const auto number = [&](int index) { return std::strtoull(arguments[index], nullptr, 10); };
  std::function<std::string()> run;
  if (part == "order" && count == 4) run = [&] { return pacing::order(number(2), number(3)); };
  if (part == "rate" && count == 5) run = [&] { return pacing::rate(number(2), number(3), number(4)); };
  if (part == "changes" && count == 4) run = [&] { return pacing::changes(number(2), number(3)); };
  if (part == "flight" && count == 5) run = [&] { return pacing::flight(number(2), number(3), number(4)); };
  if (!run) return std::fputs("pacing_bench order|rate|changes|flight NUMBERS, as in main.cpp\n", stderr), 1;
  try {
    std::printf("{\"failure\": \"\", %s}\n", run().c_str());
  } catch (const pacing::Failure &failure) {
    std::printf("{\"failure\": \"%s\"}\n", failure.what());
    return 2;
  }
}
