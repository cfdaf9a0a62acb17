// SPDX-License-Identifier: BSD-2-Clause-Patent
// ten_core_bench CONNECTIONS segments SENDS OFFERED MICROSECONDS | CONNECTIONS acks FRAMES: one JSON object. OFFERED is
// the peers' share of the wire.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "throughput.h"

int main(int count, char **arguments) try {
  constexpr double receivePpm = 50; // never in step with our clock
  const std::string traffic = count > 2 ? arguments[2] : "";
  if (!(traffic == "acks" && count == 4) && !(traffic == "segments" && count == 6))
    throw std::invalid_argument("usage: CONNECTIONS segments SENDS OFFERED MICROSECONDS | CONNECTIONS acks FRAMES");
  const std::uint64_t amount = std::strtoull(arguments[count - 1], nullptr, 10);
  const auto connections = static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10));
  latency::Module dut(latency::Phy::period, receivePpm);
  ten::Throughput bench(dut, connections);
  if (traffic == "acks") {
    const auto found = bench.acknowledgments(amount);
    std::printf("{\"flows\": %u, \"acks_per_second\": %.0f, \"frames\": %llu, \"dropped\": %llu}\n", connections,
                found.perSecond, static_cast<unsigned long long>(found.frames),
                static_cast<unsigned long long>(found.dropped));
    return 0;
  }
  const ten::Traffic wanted{std::strtoul(arguments[3], nullptr, 10) != 0, std::strtod(arguments[4], nullptr)};
  const auto shares = bench.segments(wanted, amount * 1'000'000'000);
  std::printf("{\"flows\": %u, \"offered\": %.3f, \"sent\": %.4f, \"received\": %.4f}\n", connections, wanted.offered,
              shares.sent, shares.received);
} catch (const std::exception &error) {
  std::fprintf(stderr, "ten_core_bench: %s\n", error.what());
  return 2;
}
