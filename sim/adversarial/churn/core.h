// SPDX-License-Identifier: BSD-2-Clause-Patent
// A device under test and what is asked of it when it is at rest: is anything lost, is a timer armed?
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "downbeat_sim_core.h"
#include "lib/packets/packet.h"

namespace churn {

/// The core did what it must not.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

class Core {
public:
  /// `staging`: bytes that the device takes out of the core before its application reads them. `linkRate` in b/s.
  Core(std::uint64_t seed, std::uint64_t linkRate, std::uint32_t staging);

  downbeat_device *device() const { return device_.get(); }
  downbeat_time now() const { return downbeat_sim_now(device_.get()); }
  downbeat_time nextDeadline() const { return downbeat_sim_next_deadline(device_.get()); }
  void listen(std::uint16_t port);

  void put(const fuzz::Bytes &frame, downbeat_time arrival);
  /// Until the core has done all that it was given and waits for a timer or for nothing.
  void drain();
  void advance(downbeat_time until) { downbeat_sim_advance_to(device_.get(), until); }
  /// Frames that left since the last call.
  std::vector<fuzz::Bytes> collect();

  /// All flows but `used` can be opened, each once and no more; all are given back. Nothing may be under way.
  void checkFlows(std::size_t used);

  /// The flow engine's events.
  std::uint64_t events() const;
  std::uint64_t counter(const std::string &name) const { return counters().at(name); }
  std::map<std::string, std::uint64_t> counters() const;
  /// Members of a JSON object: clocks, virtual time, the core's counters.
  std::string report() const;

private:
  struct Destroy {
    void operator()(downbeat_device *device) const { downbeat_sim_destroy(device); }
  };
  std::unique_ptr<downbeat_device, Destroy> device_;
  std::uint64_t linkRate_;
  downbeat_time lastByte_ = 0; // end of the last frame put on the wire
};

} // namespace churn
