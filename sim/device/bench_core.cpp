// SPDX-License-Identifier: BSD-2-Clause-Patent
// How fast the core simulates: it sends full segments, as fast as it can, to the simplest receiver there is, which
// lives here. Prints one JSON object; `bench_core SECONDS LINK_RATE CONNECTIONS` runs for so much wall time.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

#include "downbeat_sim_core.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t ownIp = 0x0a000001, peerIp = 0x0a000002;
constexpr std::array<std::uint8_t, 6> ownMac{2, 0, 0, 0, 0, 1}, peerMac{2, 0, 0, 0, 0, 2};
constexpr std::uint16_t peerPort = 5001, firstPort = 20000; // the core's own: one for each connection
constexpr std::uint16_t window = 65535;

/// One way: the window of one connection fills the link.
downbeat_time delayAt(std::uint64_t linkRate) {
  constexpr double longest = 10'000, shortest = 1'000, share = 8 * window / 6.5; // ns; of a window's time on the link
  return DOWNBEAT_NANOSECONDS(
      static_cast<std::uint64_t>(std::clamp(1e9 * share / static_cast<double>(linkRate), shortest, longest)));
}

std::uint32_t read32(const std::uint8_t *at) { return at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }
void write16(std::uint8_t *at, std::uint32_t value) { at[0] = value >> 8, at[1] = value; }
void write32(std::uint8_t *at, std::uint32_t value) { write16(at, value >> 16), write16(at + 2, value); }

/// The Internet checksum (RFC 1071) of an even number of bytes.
std::uint16_t checksum(const std::uint8_t *bytes, std::size_t length, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < length; i += 2) sum += bytes[i] << 8 | bytes[i + 1];
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// Acknowledges every second segment; loses and reorders nothing, so it only counts.
class Peer {
public:
  explicit Peer(downbeat_time delay) : delay_(delay) {}

  std::uint64_t segments = 0;

  void receive(downbeat_device *device, const std::uint8_t *frame, downbeat_time departure) {
    const std::uint8_t *ip = frame + 14, *tcp = ip + 20;
    if (ip[9] != 6) return;
    const std::uint8_t flags = tcp[13];
    const std::uint32_t sequence = read32(tcp + 4);
    const auto length = static_cast<std::uint32_t>((ip[2] << 8 | ip[3]) - 20 - (tcp[12] >> 4) * 4);
    const auto port = static_cast<std::uint16_t>(tcp[0] << 8 | tcp[1]);
    Stream &stream = streams_[port];
    if (flags & 2) {
      stream.next = sequence + 1;
      reply(device, port, departure, 0x12);
      return;
    }
    if (length == 0) return;
    ++segments;
    if (sequence == stream.next) stream.next += length;
    if (++stream.segments % 2 == 0) reply(device, port, departure, 0x10);
  }

private:
  void reply(downbeat_device *device, std::uint16_t port, downbeat_time departure, std::uint8_t flags) {
    std::array<std::uint8_t, 60> frame{};
    std::uint8_t *ip = frame.data() + 14, *tcp = ip + 20;
    std::ranges::copy(ownMac, frame.begin());
    std::ranges::copy(peerMac, frame.begin() + 6);
    write16(frame.data() + 12, 0x0800);
    const bool syn = flags & 2;
    const std::size_t tcpLength = syn ? 24 : 20;
    ip[0] = 0x45, ip[8] = 64, ip[9] = 6;
    write16(ip + 2, static_cast<std::uint32_t>(20 + tcpLength));
    write32(ip + 12, peerIp), write32(ip + 16, ownIp);
    write16(ip + 10, checksum(ip, 20));
    write16(tcp, peerPort), write16(tcp + 2, port);
    write32(tcp + 4, syn ? 0 : 1), write32(tcp + 8, streams_[port].next);
    tcp[12] = static_cast<std::uint8_t>(tcpLength / 4 << 4), tcp[13] = flags;
    write16(tcp + 14, window);
    if (syn) write32(tcp + 20, 0x020405b4); // MSS 1,460
    std::uint32_t pseudo = 6 + static_cast<std::uint32_t>(tcpLength);
    for (int i = 12; i < 20; i += 2) pseudo += ip[i] << 8 | ip[i + 1];
    write16(tcp + 16, checksum(tcp, tcpLength, pseudo));
    downbeat_sim_put_frame(device, frame.data(), frame.size(), departure + 2 * delay_);
  }

  downbeat_time delay_;
  struct Stream {
    std::uint32_t next = 0;
    std::uint64_t segments = 0;
  };
  std::map<std::uint16_t, Stream> streams_; // by the core's port
};

int fail(const char *what, std::int64_t error) {
  std::fprintf(stderr, "bench_core: %s: %s\n", what, downbeat_error_text(static_cast<int>(error)));
  return 1;
}

} // namespace

int main(int count, char **arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 5;
  // As fast as the tap goes: the core is then never idle, so that the model and nothing else is measured.
  const std::uint64_t linkRate =
      count > 2 ? std::strtoull(arguments[2], nullptr, 10) : downbeat_sim_highest_link_rate();
  std::vector<downbeat_sim_connection> connections(count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 1);
  const downbeat_time delay = delayAt(linkRate);
  downbeat_sim_options options{};
  std::ranges::copy(ownMac, options.mac);
  options.ip = ownIp;
  options.link_rate = linkRate;
  options.secret = 1;
  int error;
  downbeat_device *device = downbeat_sim_create(&options, &error);
  if (device == nullptr) return fail("no device", error);
  downbeat_sim_add_neighbour(device, peerIp, peerMac.data());
  for (std::size_t i = 0; i < connections.size(); ++i)
    if (const int result = downbeat_sim_connect(device, peerIp, peerPort, static_cast<std::uint16_t>(firstPort + i),
                                                nullptr, &connections[i]))
      return fail("connect", result);

  Peer peer(delay);
  const std::vector<std::uint8_t> data(1 << 20, 0x5a);
  std::array<std::uint8_t, 9018> frame;
  std::uint64_t warmSegments = 0;
  downbeat_sim_counters warm{}, counters{};
  Clock::time_point start;
  std::clock_t cpuStart = 0;
  double elapsed = 0;
  // The first thousand segments are start-up.
  for (downbeat_time now = 0; elapsed < seconds;) {
    now = std::max(downbeat_sim_next_deadline(device), now + delay);
    downbeat_sim_advance_to(device, now);
    downbeat_time departure;
    while (downbeat_sim_get_frame(device, frame.data(), frame.size(), &departure) > 0)
      peer.receive(device, frame.data(), departure);
    for (const downbeat_sim_connection connection : connections) {
      const std::int64_t sent = downbeat_sim_send(device, connection, data.data(), data.size());
      if (sent < 0 && sent != DOWNBEAT_WOULD_BLOCK) return fail("send", sent);
    }
    if (warm.clocks == 0 && peer.segments >= 1000) {
      warmSegments = peer.segments;
      downbeat_sim_get_counters(device, &warm);
      start = Clock::now();
      cpuStart = std::clock();
    } else if (warm.clocks != 0) {
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    } else if (now > DOWNBEAT_NANOSECONDS(60'000'000'000)) {
      return fail("the core sent no thousand segments in a minute of virtual time", DOWNBEAT_TIMED_OUT);
    }
  }
  downbeat_sim_get_counters(device, &counters);
  const auto segments = static_cast<double>(peer.segments - warmSegments);
  const double cpu = static_cast<double>(std::clock() - cpuStart) / CLOCKS_PER_SEC;
  const auto clocks = static_cast<double>(counters.clocks - warm.clocks);
  std::printf("{\"preset\": \"%s\", \"tap\": \"%s\", \"link_rate\": %llu, \"connections\": %zu, "
              "\"segments\": %.0f, \"wall_seconds\": %.3f, \"segments_per_wall_second\": %.0f, "
              "\"segments_per_cpu_second\": %.0f, "
              "\"clocks_per_wall_second\": %.0f, \"clocks_per_segment\": %.1f}\n",
              downbeat_sim_preset(), downbeat_sim_tap(), static_cast<unsigned long long>(linkRate), connections.size(),
              segments, elapsed, segments / elapsed, segments / cpu, clocks / elapsed, clocks / segments);
  downbeat_sim_destroy(device);
  return 0;
}
