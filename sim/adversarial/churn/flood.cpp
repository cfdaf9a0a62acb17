// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "flood.h"

#include <algorithm>
#include <sstream>

#include "lib/packets/stations.h"

namespace churn {

using namespace fuzz;

namespace {

constexpr downbeat_time roundTrip =
    DOWNBEAT_NANOSECONDS(655'000); // the peer's 64 KiB in each: 800 Mb/s, so that a tenth is left
constexpr downbeat_time warmUp = second / 20;
constexpr downbeat_time longestQuiet = second / 2; // the transfer alone is steady
constexpr std::uint64_t clients = 20;
constexpr double kept = 0.95;

/// A tenth of the link, counted on the wire (IEEE 802.3: 24 bytes beside the frame).
constexpr double perSlice = 0.1 * Live::rate / 8 / (smallestFrame + 24) * 20e-6;

} // namespace

Flood::Flood(std::uint64_t seed)
    : seed_(seed),
      draw_(seed),
      toCore_(seed ^ 1),
      toPeer_(seed ^ 2),
      flooded_(seed, roundTrip, toCore_, toPeer_),
      quiet_(seed, roundTrip, toCore_, toPeer_) {}

void Flood::run(std::uint64_t frames) {
  for (Live *live : {&flooded_, &quiet_}) {
    live->open();
    while (live->core().now() < warmUp) live->step({});
  }
  const auto goodput = [](Live &live, std::uint64_t bytes, downbeat_time since) {
    return static_cast<double>(live.peer().received() - bytes) * 8 /
           (static_cast<double>(live.core().now() - since) / 65536e9);
  };
  const std::uint64_t before = flooded_.peer().received(), quietBefore = quiet_.peer().received();
  const downbeat_time start = flooded_.core().now(), quietStart = quiet_.core().now();
  double due = 0;
  while (frames_ < frames) {
    std::vector<Bytes> syns;
    for (due += perSlice; due >= 1 && frames_ < frames; --due, ++frames_) {
      const Tuple tuple{draw_.word() >> 8 | 0x0b000000, static_cast<std::uint16_t>(draw_.between(1, 65535)), livePort};
      syns.push_back(
          frameOf({tuple, draw_.word(), 0, flag::syn, draw_.half(), {}, {}}, {attacker, tuple.remoteIp}, fuzz::core));
      if (frames_ % std::max<std::uint64_t>(frames / clients, 1) == frames / clients / 2 &&
          flooded_.clients() < clients)
        flooded_.addClient(static_cast<std::uint16_t>(40000 + flooded_.clients()), draw_.word());
    }
    flooded_.step(syns);
    if (quiet_.core().now() < quietStart + longestQuiet) quiet_.step({});
  }
  goodput_ = goodput(flooded_, before, start);
  quietGoodput_ = goodput(quiet_, quietBefore, quietStart);
  flooded_.end();
  quiet_.end();
  if (goodput_ < kept * quietGoodput_)
    throw Failure("the transfer keeps " + std::to_string(goodput_ / quietGoodput_) + " of its goodput");
  if (flooded_.slowestConnect() > 3 * second) throw Failure("a client needs more than 3 s to connect");
}

std::string Flood::report() const {
  const Live &live = flooded_;
  std::ostringstream text;
  text << "\"seed\": " << seed_ << ", \"frames\": " << frames_ << ", \"goodput\": " << goodput_
       << ", \"quiet_goodput\": " << quietGoodput_
       << ", \"goodput_kept\": " << (quietGoodput_ > 0 ? goodput_ / quietGoodput_ : 0)
       << ", \"clients\": " << live.clients()
       << ", \"slowest_connect\": " << static_cast<double>(live.slowestConnect()) / 65536e9
       << ", \"cookies_sent\": " << live.core().counter("directory_cookiesSent")
       << ", \"cookies_accepted\": " << live.core().counter("directory_cookiesAccepted")
       << ", \"cookies_refused\": " << live.core().counter("directory_cookiesRefused") << ", " << live.core().report();
  return text.str();
}

} // namespace churn
