// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core as a host on a TAP interface, in real time, with the kernel's TCP as its peer: a file one way, or the web.
//
// Prints "ready" when a frame for the core would reach it, and one JSON object at the end. Exit status 0: all is through and
// both sides have closed; 2: they have not, and the object says why; 1: it could not start.
#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include <sys/prctl.h>

#include "application.h"
#include "downbeat_sim.h"
#include "file_transfer.h"
#include "options.h"
#include "real_time.h"
#include "tap.h"
#include "trace_log.h"
#include "web_client.h"
#include "web_server.h"

namespace {

volatile std::sig_atomic_t stop = 0;

struct Destroy {
  void operator()(downbeat_device *device) const { downbeat_destroy(device); }
};
using Device = std::unique_ptr<downbeat_device, Destroy>;

Device create(const Options &options) {
  downbeat_options own{};
  std::ranges::copy(options.coreMac, own.mac);
  own.ip = options.coreIp;
  own.netmask = 0xffffff00;
  own.link_rate = RealTime::linkRate;
  own.secret = (options.seed + 1) * 0x9e3779b97f4a7c15; // any two seeds differ in many bits
  int error = 0;
  Device device(downbeat_create(&own, &error));
  if (device == nullptr) throw std::runtime_error(downbeat_error_text(error));
  if (!options.waves.empty() && (error = downbeat_waves(device.get(), options.waves.c_str())) != DOWNBEAT_OK)
    throw std::runtime_error(downbeat_error_text(error));
  return device;
}

std::unique_ptr<Application> application(downbeat_device *device, const Options &options) {
  if (!options.serve.empty()) return std::make_unique<WebServer>(device, options);
  if (!options.fetch.empty()) return std::make_unique<WebClient>(device, options);
  if (!options.send.empty()) return std::make_unique<FileSender>(device, options.send, options.peerIp, options.port);
  return std::make_unique<FileReceiver>(device, options.receive, options.port);
}

void printConnection(const Application &application) {
  downbeat_info info{};
  if (!application.info(info)) return std::puts("  \"connection\": null,"), void();
  std::printf("  \"connection\": {\"flow\": %" PRIu32 ", \"generation\": %" PRIu32 ", \"state\": \"%s\", \"remote_port\": %u, "
              "\"local_port\": %u, \"acknowledged\": %" PRIu64 ", \"unacknowledged\": %" PRIu64 ", \"received\": %" PRIu64
              ", \"peer_finished\": %s},\n",
              info.flow, info.generation, downbeat_state_text(info.state), info.remote_port, info.local_port, info.acknowledged,
              info.unacknowledged, info.received, info.peer_finished ? "true" : "false");
}

void printResult(downbeat_device *device, const RealTime &run, const Application &application, const TraceLog &log) {
  downbeat_counters counters{};
  downbeat_get_counters(device, &counters);
  std::printf("{\n  \"failure\": \"%s\",\n  \"bytes\": %" PRIu64 ",\n", run.failure().c_str(), application.bytes());
  std::printf("  \"frames\": {\"to_core\": %" PRIu64 ", \"from_core\": %" PRIu64 "},\n", run.toCore.frames, run.fromCore.frames);
  for (const auto &[name, count] : {std::pair{"dropped", &Impairments::dropped}, std::pair{"reordered", &Impairments::reordered},
                                    std::pair{"duplicated", &Impairments::duplicated}, std::pair{"corrupted", &Impairments::corrupted}})
    std::printf("  \"%s\": {\"to_core\": %" PRIu64 ", \"from_core\": %" PRIu64 "},\n", name, run.toCore.*count, run.fromCore.*count);
  std::printf("  \"segments\": %" PRIu64 ",\n  \"retransmissions\": %" PRIu64 ",\n", log.segments, log.retransmissions);
  printConnection(application);
  std::printf("  \"counters\": {\"clocks\": %" PRIu64 ", \"events\": %" PRIu64 ", \"bypassed\": %" PRIu64 ", \"late_arrivals\": %" PRIu64
              ", \"late_departures\": %" PRIu64 "},\n",
              counters.clocks, counters.events, counters.bypass_in, counters.late_arrivals, counters.late_departures);
  std::printf("  \"worst_lag_seconds\": %.6f,\n  \"last_events\": [", static_cast<double>(run.worstLag) / 65536e9);
  const char *separator = "";
  for (const auto &event : log.last()) {
    std::printf("%s\n    \"%s\"", separator, TraceLog::line(event).c_str());
    separator = ",";
  }
  std::puts("\n  ]\n}");
}

int runTransfer(const Options &options) {
  Tap tap(options.tap);
  const Device device = create(options);
  const TraceLog log(device.get());
  const auto program = application(device.get(), options);
  RealTime run(device.get(), tap, *program, options);
  std::puts("ready");
  std::fflush(stdout);
  run.run(stop);
  printResult(device.get(), run, *program, log);
  return run.failure().empty() ? 0 : 2;
}

} // namespace

int main(int count, char **arguments) {
  // Whoever started this wants the result of an interrupted run too, and nothing to be left if it dies itself.
  struct sigaction action{};
  action.sa_handler = [](int) { stop = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  try {
    return runTransfer(Options::parse(count, arguments));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "downbeat_tap: %s\n", error.what());
    return 1;
  }
}
