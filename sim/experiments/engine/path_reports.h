// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's shared estimates (sw/estimator) in a run: what a core's events report, and what a new connection asks.
#pragma once

#include <memory>
#include <string>

#include "downbeat_estimator.h"
#include "downbeat_sim.h"

/// One estimator in the papers' mode: initial window 1, the round trip that of the oldest connection.
class Estimates {
public:
  Estimates();

  /// `method` by its name; `now` s; nothing known: standard slow start.
  downbeat_host_start ask(const std::string &method, double now, std::uint32_t remote, std::uint64_t bytes);
  downbeat_estimator *estimator() const { return estimator_.get(); }
  static downbeat_address address(std::uint32_t ip);

private:
  struct Destroy {
    void operator()(downbeat_estimator *estimator) const { downbeat_estimator_destroy(estimator); }
  };
  std::unique_ptr<downbeat_estimator, Destroy> estimator_;
};

/// The reports of one connection, from its events: at each change between start-up, avoidance and recovery, at a loss,
/// else once a round trip.
class PathReports {
public:
  PathReports(Estimates &estimates, std::uint64_t name, std::uint32_t remote);

  /// The connection is established, or lives.
  void see(const downbeat_event &event, bool recovering);
  /// `now` s.
  void close(double now);

private:
  Estimates &estimates_;
  downbeat_path_report report_{};
  std::uint64_t reported_ = 0; // ns
  bool open_ = false;
};
