// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "adversarial/core.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "lib/packets/stations.h"

namespace fuzz {

namespace {

/// The core is at rest if it wants nothing for so long: departures are nearer, timeouts farther away.
constexpr downbeat_time rest = 20 * microsecond;
constexpr int longestStep = 1'000'000; // clocks

} // namespace

Core::Core(std::uint64_t seed, std::uint64_t linkRate, std::uint32_t staging, std::uint32_t initialValues)
    : linkRate_(linkRate), secret_((seed + 1) * 0x9e3779b97f4a7c15) {
  downbeat_sim_options options{};
  std::ranges::copy(core.mac, options.mac);
  options.ip = core.ip;
  options.link_rate = linkRate;
  options.secret = secret_;
  options.staging_bytes = staging;
  options.initial_values = initialValues;
  int error = 0;
  device_.reset(downbeat_sim_create(&options, &error));
  if (device_ == nullptr) throw Failure(downbeat_error_text(error));
}

void Core::addNeighbours() {
  for (const Station &station : {livePeer, victim, silent})
    if (downbeat_sim_add_neighbour(device(), station.ip, station.mac.data()) != DOWNBEAT_OK)
      throw Failure("add_neighbour");
}

void Core::listen(std::uint16_t port) {
  if (downbeat_sim_listen(device(), port, nullptr) != DOWNBEAT_OK) throw Failure("listen");
  drain();
}

void Core::put(const Bytes &frame, downbeat_time arrival) {
  if (downbeat_sim_put_frame(device(), frame.data(), frame.size(), arrival) != DOWNBEAT_OK) throw Failure("put_frame");
  occupy(arrival + DOWNBEAT_NANOSECONDS((frame.size() + 24) * 8'000'000'000 / linkRate_));
}

void Core::drain() {
  advance(lastByte_);
  for (int clocks = 0;; ++clocks) {
    const downbeat_time deadline = nextDeadline();
    if (deadline == DOWNBEAT_NEVER || deadline > now() + rest) return;
    if (clocks > longestStep) throw Failure("hang: the core is busy without an end");
    advance(deadline);
  }
}

std::vector<Bytes> Core::collect() {
  std::vector<Bytes> frames;
  Bytes frame(largest + 16); // longer than any that the core should send
  for (std::int64_t length; (length = downbeat_sim_get_frame(device(), frame.data(), frame.size(), nullptr)) > 0;)
    frames.emplace_back(frame.begin(), frame.begin() + length);
  return frames;
}

void Core::checkFlows(std::size_t used, const std::function<void()> &settle) {
  const std::size_t available = DOWNBEAT_FLOWS - used;
  std::vector<downbeat_sim_connection> names(available + 1);
  for (std::size_t i = 0; i < names.size(); ++i)
    downbeat_sim_connect(device(), silent.ip, static_cast<std::uint16_t>(1000 + i), 0, nullptr, &names[i]);
  settle();
  std::set<std::uint32_t> flows;
  std::size_t refused = 0;
  for (const downbeat_sim_connection name : names) {
    downbeat_sim_info info{};
    downbeat_sim_connection_info(device(), name, &info);
    if (info.error == DOWNBEAT_OUT_OF_RESOURCES)
      ++refused;
    else
      flows.insert(info.flow);
    downbeat_sim_abort(device(), name);
  }
  settle();
  if (flows.size() != available || refused != 1)
    throw Failure("flows are lost: " + std::to_string(flows.size()) + " of " + std::to_string(available) +
                  " could be opened");
}

downbeat_sim_counters Core::deviceCounters() const {
  downbeat_sim_counters counters{};
  downbeat_sim_get_counters(device_.get(), &counters);
  return counters;
}

std::map<std::string, std::uint64_t> Core::counters() const {
  std::map<std::string, std::uint64_t> all;
  const char *name = nullptr;
  std::uint32_t value = 0;
  for (unsigned index = 0; downbeat_sim_core_counter(device(), index, &name, &value) == DOWNBEAT_OK; ++index)
    all[name] = value;
  return all;
}

std::string Core::report() const {
  const downbeat_sim_counters device = deviceCounters();
  std::ostringstream text;
  text << "\"frames_in\": " << device.frames_in << ", \"frames_out\": " << device.frames_out
       << ", \"clocks\": " << device.clocks << ", \"virtual_seconds\": " << static_cast<double>(now()) / 65536e9
       << ", \"counters\": {";
  const char *separator = "";
  for (const auto &[name, value] : counters()) text << std::exchange(separator, ", ") << '"' << name << "\": " << value;
  text << "}";
  return text.str();
}

} // namespace fuzz
