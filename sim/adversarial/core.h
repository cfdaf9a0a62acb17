// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core under test, and the checks of a core at rest: no flow is lost, no timer is armed.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "downbeat_sim_core.h"
#include "lib/packets/packet.h"

namespace fuzz {

/// The core did what it must not.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

class Core {
public:
  /// The seed draws the core's secret. `linkRate` in b/s. `staging`: bytes that the device takes out of the core before
  /// its application reads them. `initialValues`: seed of the registers' first values; 0: zeros.
  Core(std::uint64_t seed, std::uint64_t linkRate, std::uint32_t staging = 0, std::uint32_t initialValues = 0);

  downbeat_device *device() const { return device_.get(); }
  downbeat_time now() const { return downbeat_sim_now(device_.get()); }
  downbeat_time nextDeadline() const { return downbeat_sim_next_deadline(device_.get()); }
  std::uint64_t secret() const { return secret_; }
  void listen(std::uint16_t port);
  /// Static ARP entries of all stations.
  void addNeighbours();

  void put(const Bytes &frame, downbeat_time arrival);
  /// The wire is busy until then.
  void occupy(downbeat_time end) { lastByte_ = std::max(lastByte_, end); }
  /// Until the core has done all that it was given and waits for a timer or for nothing.
  void drain();
  void advance(downbeat_time until) { downbeat_sim_advance_to(device_.get(), until); }
  /// Frames that left since the last call.
  std::vector<Bytes> collect();

  /// All flows but `used` can be opened, each once and no more; all are given back. Nothing may be under way. `settle`
  /// drains the core and takes its frames.
  void checkFlows(std::size_t used, const std::function<void()> &settle);
  void checkFlows(std::size_t used) {
    checkFlows(used, [this] { drain(), collect(); });
  }

  downbeat_sim_counters deviceCounters() const;
  std::uint64_t counter(const std::string &name) const { return counters().at(name); }
  std::map<std::string, std::uint64_t> counters() const;
  /// Members of a JSON object: clocks, virtual time, the core's counters.
  std::string report() const;

private:
  struct Destroy {
    void operator()(downbeat_device *device) const { downbeat_sim_destroy(device); }
  };
  std::unique_ptr<downbeat_device, Destroy> device_;
  std::uint64_t linkRate_, secret_;
  downbeat_time lastByte_ = 0; // end of the last frame put on the wire
};

} // namespace fuzz
