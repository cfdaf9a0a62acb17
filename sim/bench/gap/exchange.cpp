// SPDX-License-Identifier: BSD-2-Clause-Patent
// One end of a path that is simulated elsewhere: frames leave at given instants, or arrive at them.
#include <cinttypes>
#include <cstdio>

#include "cases.h"

namespace gap {

namespace {

struct Line {
  std::uint64_t id, instant;
  std::size_t length; // without FCS
};

bool read(Line &line) {
  const bool whole = std::scanf("%" SCNu64 " %zu %" SCNu64, &line.id, &line.length, &line.instant) == 3;
  line.length -= 4;
  return whole;
}

class Stamps {
public:
  void add(std::uint64_t id, Stamp stamp) {
    list_ += (list_.empty() ? "[" : ", [") + std::to_string(id) + ", " + std::to_string(stamp) + "]";
  }
  std::string json() const { return "[" + list_ + "]"; }

private:
  std::string list_;
};

} // namespace

void launch(const Options &, Bench &bench, Object &result) {
  Departures departures;
  Stamps stamps;
  bench.onFate = [&](const Fate &fate) {
    departures.add(fate);
    stamps.add(fate.launch.id, static_cast<Stamp>(fate.sfd >> 16));
  };
  for (Line line; read(line);) {
    bench.runToHandIn(line.instant);
    bench.handIn({line.id, line.length, LaunchMode::at, line.instant});
  }
  result.add("all_back", bench.finish());
  departures.report(result, bench.dut().pins());
  result.add("stamps", stamps.json());
}

void receive(const Options &, Bench &bench, Object &result) {
  Spread error;
  Stamps stamps;
  bench.onFate = [&](const Fate &fate) {
    error.add(inNanoseconds(timeOf(fate.received) - fate.returned));
    stamps.add(fate.launch.id, fate.received);
  };
  for (Line line; read(line);) {
    bench.runToHandIn(line.instant);
    bench.arrive(line.id, line.length, timeOf(line.instant));
  }
  result.add("all_back", bench.finish());
  result.add("max_receive_stamp_error_ns", error.worst()).add("stamps", stamps.json());
}

} // namespace gap
