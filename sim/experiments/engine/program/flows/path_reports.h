// SPDX-License-Identifier: BSD-2-Clause-Patent
// Estimates of a host (sw/estimator) in a run: reports of its cores come in, starts of new connections go out; alone,
// or as one host of a site with a gateway (sw/gateway/client/downbeat_site.h).
#pragma once

#include <memory>
#include <string>

#include "core/path_counts.h"
#include "downbeat_estimator.h"
#include "downbeat_sim_core.h"
#include "plan/plan.h"

/// In the papers' mode: initial window 1, the round trip that of the oldest connection.
class Estimates {
public:
  virtual ~Estimates() = default;

  /// `method` by its name; `now` s; nothing known: standard slow start.
  downbeat_host_start request(const std::string &method, double now, std::uint32_t remote, std::uint64_t bytes);
  static downbeat_address address(std::uint32_t ip);

  /// Times are ns.
  virtual void open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote) = 0;
  virtual void report(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote,
                      const downbeat_path_report &report) = 0;
  virtual void close(std::uint64_t now, std::uint64_t connection) = 0;
  virtual downbeat_host_start request(std::uint64_t now, const downbeat_start_request &request) = 0;
  /// A connection there will open soon.
  virtual void expect(std::uint32_t remote) = 0;

protected:
  static downbeat_estimator_options options(const EstimatorPlan &plan);
};

/// One estimator, of one host.
class OwnEstimates : public Estimates {
public:
  explicit OwnEstimates(const EstimatorPlan &plan);

  void open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote) override;
  void report(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote,
              const downbeat_path_report &report) override;
  void close(std::uint64_t now, std::uint64_t connection) override;
  downbeat_host_start request(std::uint64_t now, const downbeat_start_request &request) override;
  void expect(std::uint32_t) override {}
  using Estimates::request;

private:
  struct Destroy {
    void operator()(downbeat_estimator *estimator) const { downbeat_estimator_destroy(estimator); }
  };
  std::unique_ptr<downbeat_estimator, Destroy> estimator_;
};

/// Passes a core's reports of one connection on to the estimator.
class PathReports {
public:
  PathReports(Estimates &estimates, std::uint64_t name, std::uint32_t remote);

  void see(const downbeat_path_report &report);
  /// `now` s.
  void close(double now);

private:
  Estimates &estimates_;
  std::uint64_t name_;
  downbeat_address remote_;
  downbeat::PathCounts counts_;
  bool open_ = false;
};
