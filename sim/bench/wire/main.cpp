// SPDX-License-Identifier: BSD-2-Clause-Patent
// wire_bench line BYTES FRAMES CORE_PS | wire_bench gate FRAMES SEED: prints one JSON object; the status is 0 if all
// was right.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launch_trace.h"
#include "line_rate.h"

int main(int count, char **arguments) {
  const auto number = [arguments](int index) { return std::strtoull(arguments[index], nullptr, 10); };
  if (count == 5 && std::strcmp(arguments[1], "line") == 0)
    return wire::lineRate(number(2), number(2), number(3), number(4)) ? 0 : 1;
  if (count == 4 && std::strcmp(arguments[1], "gate") == 0) return wire::launchTrace(number(2), number(3)) ? 0 : 1;
  std::fprintf(stderr, "usage: %s line BYTES FRAMES CORE_PS | gate FRAMES SEED\n", arguments[0]);
  return 2;
}
