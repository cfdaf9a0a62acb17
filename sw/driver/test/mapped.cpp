// SPDX-License-Identifier: BSD-2-Clause-Patent
// What test_driver_mapped.py's files cannot stand for. Prints what was seen of the case that is named.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "handle.h"

using namespace downbeat;

namespace {

void exceptions() {
  const int code = guarded([] { return std::stoi("no number"); });
  std::printf("%d %s\n", code, downbeat_problem());
}

} // namespace

int main(int count, char **values) try {
  const std::string_view name = count == 2 ? values[1] : "";
  if (name == "exceptions") return exceptions(), 0;
  return 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
