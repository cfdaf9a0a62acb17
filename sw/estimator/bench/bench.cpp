/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// Path reports a second on one core, and memory with every place taken: a line of JSON.
/// `estimator_bench SEED REPORTS PREFIXES CONNECTIONS`. Reports come in a random order of connections; one in 64 tells
/// of a loss.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "downbeat_estimator.h"

namespace {

constexpr uint64_t millisecond = 1'000'000; // ns
constexpr uint64_t step = 1'000;            // ns between reports
constexpr uint32_t requests = 100'000;

struct Destroy {
  void operator()(downbeat_estimator *estimator) const { downbeat_estimator_destroy(estimator); }
};

/// One address in each of the prefixes, in turn.
downbeat_address address(uint32_t number, uint32_t prefixes) {
  const uint32_t prefix = number % prefixes + (10u << 16), host = number / prefixes + 1;
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, static_cast<uint8_t>(prefix >> 16),
           static_cast<uint8_t>(prefix >> 8), static_cast<uint8_t>(prefix), static_cast<uint8_t>(host)}};
}

/// Memory of this process, in kB (proc(5)).
uint64_t resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (uint64_t value; word == "VmRSS:" && status >> value) return value;
  return 0;
}

/// Processor time of this process: other load on the machine does not count.
double seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

} // namespace

int main(int count, char **words) {
  if (count != 5) return std::fputs("usage: estimator_bench SEED REPORTS PREFIXES CONNECTIONS\n", stderr), 2;
  const uint64_t reports = std::strtoull(words[2], nullptr, 10);
  const auto prefixes = static_cast<uint32_t>(std::atol(words[3])),
             connections = static_cast<uint32_t>(std::atol(words[4]));
  std::mt19937_64 draw(std::strtoull(words[1], nullptr, 10));
  const uint64_t before = resident();
  downbeat_estimator_options options;
  downbeat_estimator_defaults(&options);
  options.prefixes = prefixes;
  options.connections = connections;
  const std::unique_ptr<downbeat_estimator, Destroy> estimator(downbeat_estimator_create(&options, nullptr));
  if (!estimator) return std::fputs("no estimator of that size\n", stderr), 1;

  std::vector<downbeat_path_report> states(connections);
  uint64_t now = 0, refused = 0;
  for (uint32_t number = 0; number < connections; ++number) {
    states[number].segment_size = 1460;
    const downbeat_address remote = address(number, prefixes);
    refused += downbeat_estimator_open(estimator.get(), now, number + 1, &remote) != DOWNBEAT_CAUSE_NONE;
  }
  std::vector<uint32_t> order(1 << 16);
  for (uint32_t &each : order) each = static_cast<uint32_t>(draw() % connections);

  const double begin = seconds();
  for (uint64_t number = 0; number < reports; ++number) {
    const uint32_t chosen = order[number % order.size()];
    const downbeat_address remote = address(chosen, prefixes);
    downbeat_path_report &state = states[chosen];
    now += step;
    state.time = now;
    state.cwnd = 1460 * (10 + static_cast<uint32_t>(number % 97));
    state.ssthresh = state.cwnd / 2;
    state.phase = number % 5 ? DOWNBEAT_PHASE_AVOIDANCE : DOWNBEAT_PHASE_STARTUP;
    state.smoothed_rtt = state.smallest_rtt = 40 * millisecond;
    state.acked += 50 * 1460;
    state.acks += 25;
    if (number % 64 == 0) {
      ++state.losses;
      state.loss_time = now;
      state.loss_window = state.cwnd;
      state.loss_in_avoidance = 1;
    }
    refused += downbeat_estimator_report(estimator.get(), now, chosen + 1, &remote, &state) != DOWNBEAT_CAUSE_NONE;
  }
  const double took = seconds() - begin;

  const double requesting = seconds();
  uint64_t known = 0;
  for (uint32_t number = 0; number < requests; ++number) {
    const downbeat_start_request request{
        address(order[number % order.size()], prefixes), 0, 100'000, 0, number % DOWNBEAT_METHODS, 1460, 0};
    downbeat_host_start start;
    downbeat_estimator_request(estimator.get(), now, &request, &start);
    known += start.known;
  }
  std::printf("{\"reports\": %" PRIu64
              ", \"processor_seconds\": %.3f, \"reports_per_second\": %.0f, \"asks_per_second\": %.0f, "
              "\"known\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"memory_bytes\": %zu, \"resident_bytes\": %" PRIu64
              "}\n",
              reports, took, static_cast<double>(reports) / took, requests / (seconds() - requesting), known, refused,
              downbeat_estimator_memory(estimator.get()),
              (resident() - before) * 1024 - states.capacity() * sizeof states[0] - order.capacity() * sizeof order[0]);
}
