// SPDX-License-Identifier: BSD-2-Clause-Patent
// host_bench LIBRARY bytes SEED COUNT | bad SEED COUNT | latency: the host half of a simulated device, driven by its
// registers and rings. JSON on standard output.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bad_host.h"
#include "latency.h"
#include "stream.h"

namespace {

using namespace downbeat;
using namespace downbeat::bench;

// So fast that the core is what the bytes wait for.
constexpr std::uint64_t fastLink = 8'000'000'000, gigabit = 1'000'000'000;
constexpr std::uint64_t streamTimeout = DOWNBEAT_NANOSECONDS(1'000'000'000); // without a byte

using Counts = std::array<std::uint64_t, 2>; // bytes of the two streams of a pair

/// Both ends of a connection between two ports, with a stream each way.
struct Pair {
  Pair(Machine &machine, std::uint32_t from, std::uint32_t to, std::uint16_t number, std::uint32_t seed, bool slow) {
    machine.listen(to, number);
    const auto [here, there] = machine.connect(from, to, static_cast<std::uint16_t>(number + 1000), number);
    streams.emplace_back(machine, from, here, number, number + 1, seed, slow);
    streams.emplace_back(machine, to, there, number + 1, number, seed + 1, slow);
  }
  /// Each stream writes up to its count of bytes.
  void step(const Counts &counts) {
    for (std::size_t each = 0; each < counts.size(); ++each)
      streams[each].step(counts[each] - std::min(counts[each], streams[each].written()));
  }
  std::uint64_t checked() const { return streams[0].checked() + streams[1].checked(); }
  std::uint64_t wrong() const { return streams[0].wrong() + streams[1].wrong(); }
  std::vector<Stream> streams;
};

/// Steps until all bytes of `counts` have arrived; false: nothing moves any more.
bool finish(Machine &machine, Pair &pair, const Counts &counts) {
  std::uint64_t before = 0, moved = machine.model.now();
  while (pair.checked() < counts[0] + counts[1]) {
    machine.step();
    pair.step(counts);
    if (pair.checked() != before) before = pair.checked(), moved = machine.model.now();
    if (machine.model.now() - moved > streamTimeout) return false;
  }
  return true;
}

std::uint64_t portErrors(Machine &machine) {
  std::uint64_t sum = 0;
  for (std::uint32_t port = 0; port < machine.geometry.ports; ++port)
    sum += machine.model.read(format::portBlocks + port * format::portBlockBytes + format::portErrors);
  return sum;
}

/// Bytes that nobody may write: behind the rings, and the payload of flows without a connection.
std::uint64_t touched(const Machine &machine, std::uint32_t usedFlows) {
  const Geometry &geometry = machine.geometry;
  std::uint64_t count = 0;
  const auto look = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t at = from; at < to; ++at) count += machine.memory.base()[at] != 0;
  };
  look(std::uint64_t{usedFlows} * geometry.sendBytes, geometry.receiveBase());
  look(geometry.receiveBase() + std::uint64_t{usedFlows} * geometry.receiveBytes, geometry.payloadBytes());
  look(machine.memory.bytes() - machine.guardBytes, machine.memory.bytes());
  return count;
}

int bytes(const std::string &library, std::uint32_t seed, std::uint64_t count) {
  std::uint64_t equal = 0, sum = 0, laps = 0, errors = 0;
  bool ended = true;
  // A quick memory and a slow one; a program that reads at once and one that rests.
  for (const std::uint32_t stalls : {0u, 100u}) {
    Machine machine(library, fastLink, stalls, seed);
    Pair pair(machine, 0, 1, 5001, seed, stalls != 0);
    ended &= finish(machine, pair, {count / 4, count / 4});
    sum += pair.checked();
    equal += pair.checked() - pair.wrong();
    laps += pair.checked() / machine.geometry.receiveBytes;
    errors += portErrors(machine);
  }
  std::printf(R"({"bytes":%llu,"bytes_equal":%llu,"ring_laps":%llu,"errors":%llu,"ended":%s})"
              "\n",
              static_cast<unsigned long long>(sum), static_cast<unsigned long long>(equal),
              static_cast<unsigned long long>(laps), static_cast<unsigned long long>(errors), ended ? "true" : "false");
  return ended && equal == sum && errors == 0 ? 0 : 1;
}

int bad(const std::string &library, std::uint32_t seed, std::uint64_t count) {
  constexpr Counts endless = {UINT64_MAX, UINT64_MAX};
  constexpr std::uint32_t badPort = 2, flows = 4; // two connections, both ends here
  Machine machine(library, fastLink, 0, seed);
  Pair beside(machine, 0, 1, 5001, seed, false);
  machine.listen(3, 5003);
  const auto [own, peer] = machine.connect(badPort, 3, 6003, 5003);
  // Unread bytes, so that a consumed doorbell may move.
  machine.port(3).doorbell(format::writtenSequence, peer.written + 1000,
                           peer.flow | std::uint32_t{peer.generation} << 16);
  machine.until("unread bytes",
                [&] { return machine.port(badPort).statuses.at(own.flow).received == own.received + 1000; });
  const format::Notification others = machine.port(0).statuses.begin()->second;
  BadHost host(machine, badPort, machine.port(badPort).statuses.at(own.flow), others, seed);

  // A hang: not a byte of the connection beside for so long.
  constexpr std::uint64_t hang = DOWNBEAT_NANOSECONDS(1'000'000);
  std::uint64_t last = 0, moved = machine.model.now(), hangs = 0;
  bool hanging = false;
  const auto step = [&] {
    machine.step();
    beside.step(endless);
    if (beside.checked() != last) {
      last = beside.checked(), moved = machine.model.now(), hanging = false;
    } else if (!hanging && machine.model.now() - moved > hang) {
      hanging = true, ++hangs;
    }
  };
  std::uint64_t inputs = host.systematic(step);
  inputs += host.random(count, step);
  inputs += host.rings();
  const bool goesOn =
      finish(machine, beside, {beside.streams[0].written() + 100'000, beside.streams[1].written() + 100'000});
  const std::uint64_t outside = touched(machine, flows);
  std::printf(R"({"bad_inputs":%llu,"answered":%llu,"wrong_answers":%llu,"first_wrong":"%s","hangs":%llu,)"
              R"("bytes_beside":%llu,"bytes_beside_equal":%llu,"written_outside":%llu})"
              "\n",
              static_cast<unsigned long long>(inputs), static_cast<unsigned long long>(host.answered()),
              static_cast<unsigned long long>(host.wrong()), host.firstWrong().c_str(),
              static_cast<unsigned long long>(hangs + !goesOn), static_cast<unsigned long long>(beside.checked()),
              static_cast<unsigned long long>(beside.checked() - beside.wrong()),
              static_cast<unsigned long long>(outside));
  return host.wrong() == 0 && hangs == 0 && goesOn && beside.wrong() == 0 && outside == 0 ? 0 : 1;
}

int latency(const std::string &library) {
  Machine machine(library, gigabit, 0, 1);
  machine.listen(1, 5001);
  const auto [from, to] = machine.connect(0, 1, 6001, 5001);
  std::printf("[");
  const char *separator = "";
  // With timestamps (RFC 7323) a full segment has 12 bytes less.
  for (const std::uint32_t size : {64u, machine.geometry.mss - 12}) {
    const Latency found = latencyOf(machine, from, to, size, gigabit);
    std::printf(R"(%s{"bytes":%u,"doorbell_to_sfd_clocks":%.1f,"last_byte_to_notification_clocks":%.1f})", separator,
                size, found.doorbellToSfd, found.lastByteToNotification);
    separator = ",";
  }
  std::printf("]\n");
  return 0;
}

} // namespace

int main(int count, char **arguments) {
  const std::string library = count > 1 ? arguments[1] : "", job = count > 2 ? arguments[2] : "";
  const auto number = [&](int at) { return at < count ? std::strtoull(arguments[at], nullptr, 0) : 0; };
  try {
    if (job == "bytes") return bytes(library, static_cast<std::uint32_t>(number(3)), number(4));
    if (job == "bad") return bad(library, static_cast<std::uint32_t>(number(3)), number(4));
    if (job == "latency") return latency(library);
    std::fputs("host_bench LIBRARY bytes SEED COUNT | bad SEED COUNT | latency\n", stderr);
  } catch (const std::exception &error) { std::fprintf(stderr, "host_bench: %s\n", error.what()); }
  return 2;
}
