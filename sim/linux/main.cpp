// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core as a host on a TAP interface, in real time, with the kernel's TCP as its peer: a file one way, the
// web, or iperf3. Or the wire alone, between the kernels of two network namespaces.
//
// Prints "ready" when a frame for the core would reach it, and one JSON object at the end. Exit status 0: all is
// through and both sides have closed; 2: they have not, and the object says why; 1: it could not start.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "application.h"
#include "downbeat_sim_core.h"
#include "file_transfer.h"
#include "iperf3_client.h"
#include "iperf3_server.h"
#include "options.h"
#include "real_time.h"
#include "relay.h"
#include "result.h"
#include "tap.h"
#include "trace_log.h"
#include "web_client.h"
#include "web_server.h"

namespace {

volatile std::sig_atomic_t stop = 0;

struct Destroy {
  void operator()(downbeat_device *device) const { downbeat_sim_destroy(device); }
};
using Device = std::unique_ptr<downbeat_device, Destroy>;

Device create(const Options &options) {
  downbeat_sim_options own{};
  std::ranges::copy(options.coreMac, own.mac);
  own.ip = options.coreIp;
  own.netmask = 0xffffff00;
  own.link_rate = RealTime::linkRate;
  own.secret = (options.seed + 1) * 0x9e3779b97f4a7c15; // any two seeds differ in many bits
  int error = 0;
  Device device(downbeat_sim_create(&own, &error));
  if (device == nullptr) throw std::runtime_error(downbeat_error_text(error));
  if (!options.waves.empty() && (error = downbeat_sim_waves(device.get(), options.waves.c_str())) != DOWNBEAT_OK)
    throw std::runtime_error(downbeat_error_text(error));
  return device;
}

std::unique_ptr<Application> application(downbeat_device *device, const Options &options) {
  if (options.iperf3 == "server") return std::make_unique<Iperf3Server>(device, options);
  if (options.iperf3 == "client") return std::make_unique<Iperf3Client>(device, options);
  if (!options.serve.empty()) return std::make_unique<WebServer>(device, options);
  if (!options.fetch.empty()) return std::make_unique<WebClient>(device, options);
  if (!options.send.empty()) {
    downbeat_parameters parameters{};
    parameters.startup = options.startup.empty() ? nullptr : options.startup.c_str();
    parameters.steady = options.steady.empty() ? nullptr : options.steady.c_str();
    parameters.initial_window = options.initialWindow;
    return std::make_unique<FileSender>(device, options.send, options.peerIp, options.port, &parameters);
  }
  return std::make_unique<FileReceiver>(device, options.receive, options.port);
}

/// Moves this process into the network namespace at `path`; its open descriptors stay where they are.
void enterNamespace(const std::string &path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 || setns(descriptor, CLONE_NEWNET) < 0)
    throw std::system_error(errno, std::generic_category(), path);
  close(descriptor);
}

int runRelay(const Options &options) {
  Tap first(options.tap);
  enterNamespace(options.relayNamespace);
  Tap second(options.relay);
  Relay relay(first, second, options);
  std::puts("ready");
  std::fflush(stdout);
  relay.run(stop);
  std::puts(result(relay).dump(2).c_str());
  return 0;
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
  // A peer's text may be in it, in any bytes.
  std::puts(
      result(device.get(), run, *program, log).dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return run.failure().empty() ? 0 : 2;
}

} // namespace

int main(int count, char **arguments) {
  // An interrupted run prints its result too, and the program ends with its parent.
  struct sigaction action{};
  action.sa_handler = [](int) { stop = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  try {
    const Options options = Options::parse(count, arguments);
    return options.relay.empty() ? runTransfer(options) : runRelay(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "downbeat_tap: %s\n", error.what());
    return 1;
  }
}
