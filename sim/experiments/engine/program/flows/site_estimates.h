// SPDX-License-Identifier: BSD-2-Clause-Patent
// The estimates of a host that has a gateway: libdownbeat_site, the library that the driver loads too.
#pragma once

#include "downbeat_site.h"
#include "path_reports.h"
#include "plan/plan.h"

/// The gateway lives in real time, the run in its own. A run stands still while the gateway is asked ahead, at most a
/// second; a connection's start waits for nothing.
class SiteEstimates : public Estimates {
public:
  /// Throws std::runtime_error: no library, or it refuses URI or key.
  SiteEstimates(const SitePlan &plan, const EstimatorPlan &estimator);
  ~SiteEstimates() override;
  SiteEstimates(const SiteEstimates &) = delete;
  SiteEstimates &operator=(const SiteEstimates &) = delete;

  void open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote) override;
  void report(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote,
              const downbeat_path_report &report) override;
  void close(std::uint64_t now, std::uint64_t connection) override;
  downbeat_host_start request(std::uint64_t now, const downbeat_start_request &request) override;
  void expect(std::uint32_t remote) override;
  using Estimates::request;

private:
  struct Calls {
    decltype(&downbeat_site_create) create;
    decltype(&downbeat_site_destroy) destroy;
    decltype(&downbeat_site_open) open;
    decltype(&downbeat_site_report) report;
    decltype(&downbeat_site_close) close;
    decltype(&downbeat_site_expect) expect;
    decltype(&downbeat_site_request) request;
  };

  bool hasGateway_;
  Calls call_{};
  downbeat_site *site_ = nullptr;
};
