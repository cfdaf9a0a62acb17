// SPDX-License-Identifier: BSD-2-Clause-Patent
// A host for measurements and first responses. Its key, the line of `downbeat gateway keys issue`, comes by the
// standard input: arguments are everybody's to read.
//
//   gateway-bench once URI HOSTKEY PREFIX            reports a transfer, asks, prints the response as JSON
//   gateway-bench ask URI HOSTKEY PREFIX             asks alone
//   gateway-bench load URI HOSTKEY SECONDS RATE PREFIXES
//        reports and queries by turns, RATE messages a second; 0: as fast as 256 open queries allow.
//        Prints {"sent", "answered", "seconds", "p50_us", "p99_us", "max_us", "window_p99_us"}: the last is the median
//        of the p99 of each 20 ms
//   gateway-bench pauses SECONDS                     what the machine takes from a program that never waits: its clock
//        jumps by 50 us or more. Prints {"share", "longest_us"}
//
// URI is udp://HOST:PORT or unix:///PATH.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "client/client.h"
#include "load.h"
#include "wire/socket.h"

using namespace downbeat::gateway;

namespace {

int refuse(const std::string &reason) {
  std::fprintf(stderr, "gateway-bench: %s\n", reason.c_str());
  return 2;
}

int once(const Peer &peer, const HostKey &key, const Prefix &prefix, bool reports) {
  Client client(key, random64);
  const Nanoseconds end = read(CLOCK_BOOTTIME) + 2 * second;
  if (reports) client.report({.prefix = prefix, .window = 30 * 1460, .rtt = 0.05, .acked = 2}, read(CLOCK_BOOTTIME));
  for (Nanoseconds now; (now = read(CLOCK_BOOTTIME)) < end;) {
    if (const auto response = client.counters().reportsSent || !reports ? client.request(prefix, now) : std::nullopt) {
      std::printf("{\"prefix\": \"%s\", \"window_bytes\": %.17g, \"rtt_s\": %.9g, \"segments_per_ack\": %.9g, "
                  "\"reports\": %u, \"reporters\": %u, \"lifetime_ms\": %u}\n",
                  prefix.text().c_str(), response->window, response->rtt, response->acked, response->transfers,
                  response->transferReporters, response->lifetime);
      return 0;
    }
    for (const auto &datagram : client.due(now)) peer.send(datagram);
    if (const auto bytes = receive(peer.descriptor(), 10); !bytes.empty()) client.receive(bytes, read(CLOCK_BOOTTIME));
  }
  return refuse(client.connected() ? "no answer in two seconds"
                                   : "no welcome in two seconds: is a gateway there, and does it know this key?");
}

int pauses(Nanoseconds time) {
  constexpr Nanoseconds jump = 50'000;
  const Nanoseconds begin = read(CLOCK_MONOTONIC);
  Nanoseconds lost = 0, longest = 0, before = begin;
  for (Nanoseconds now; before - begin < time; before = now) {
    now = read(CLOCK_MONOTONIC);
    longest = std::max(longest, now - before);
    if (now - before >= jump) lost += now - before;
  }
  std::printf("{\"share\": %.6f, \"longest_us\": %.1f}\n", double(lost) / double(before - begin),
              double(longest) / 1000);
  return 0;
}

} // namespace

int main(int count, char **words) {
  const std::string mode = count > 1 ? words[1] : "";
  if (mode == "pauses" && count == 3) return pauses(static_cast<Nanoseconds>(std::atof(words[2]) * second));
  if (!((mode == "once" || mode == "ask") && count == 4) && !(mode == "load" && count == 6))
    return refuse("use once or ask URI PREFIX, load URI SECONDS RATE PREFIXES, each with the key as input, or pauses "
                  "SECONDS");
  if (!startCrypto()) return refuse("libsodium cannot start");
  auto opened = Peer::open(words[2]);
  if (const auto *reason = std::get_if<std::string>(&opened)) return refuse(*reason);
  std::string line;
  std::getline(std::cin, line);
  auto key = HostKey::parse(line);
  if (const auto *reason = std::get_if<std::string>(&key)) return refuse(*reason);
  const Peer &peer = std::get<Peer>(opened);
  if (mode != "load") {
    const auto prefix = Prefix::parse(words[3]);
    return prefix ? once(peer, std::get<HostKey>(key), *prefix, mode == "once")
                  : refuse("use a prefix, as 192.0.2.0/24");
  }
  const double seconds = std::atof(words[3]), rate = std::atof(words[4]);
  const int prefixes = std::clamp(std::atoi(words[5]), 1, 65536);
  if (connect(peer.descriptor(), peer.address(), peer.size()) != 0) return refuse("the gateway cannot be reached");
  Load load(peer.descriptor(), std::get<HostKey>(key));
  if (!load.hello()) return refuse("no welcome in two seconds: is a gateway there, and does it know this key?");
  load.prepare(static_cast<std::size_t>(seconds * (rate > 0 ? rate : 300'000)), rate, static_cast<unsigned>(prefixes));
  load.run(rate);
  load.print();
  return 0;
}
