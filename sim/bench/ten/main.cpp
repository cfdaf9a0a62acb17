// SPDX-License-Identifier: BSD-2-Clause-Patent
// ten_bench line FIRST LAST FRAMES CORE_PS | ten_bench launches FRAMES SEED: prints one JSON object; the status is 0 if
// all was right.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "launches.h"
#include "line_rate.h"

int main(int count, char **arguments) try {
  const auto number = [arguments](int index) { return std::strtoull(arguments[index], nullptr, 10); };
  if (count == 6 && std::strcmp(arguments[1], "line") == 0)
    return wire::lineRate(number(2), number(3), number(4), number(5)) ? 0 : 1;
  if (count == 4 && std::strcmp(arguments[1], "launches") == 0) return ten::launches(number(2), number(3)) ? 0 : 1;
  std::fprintf(stderr, "usage: %s line FIRST LAST FRAMES CORE_PS | launches FRAMES SEED\n", arguments[0]);
  return 2;
} catch (const std::exception &error) {
  std::fprintf(stderr, "ten_bench: %s\n", error.what());
  return 2;
}
