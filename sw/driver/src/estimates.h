// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sources of starts: this program's own estimates, and those of its site's gateway where it has answered
// (sw/gateway/client/downbeat_site.h, which is loaded when a device's URI asks for it).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "core/path_counts.h"
#include "downbeat.h"
#include "downbeat_site.h"

namespace downbeat {

/// Guarded by the device's tables. A connection's name is any number but 0 that no other has while it lives.
class Estimates {
public:
  /// `options`: "gateway=udp://HOST:PORT,key=FILE" and perhaps ",estimate=METHOD" (spand) and ",wait=MS" (0). Throws
  /// Failure.
  explicit Estimates(const std::string &options);
  Estimates(const Estimates &) = delete;
  Estimates &operator=(const Estimates &) = delete;
  ~Estimates();

  /// Before a start: waits for the gateway's first response about an address, if the options say so.
  void await(std::uint32_t ip);
  /// From what is there; the gateway's answer to a new request serves the next. `until` is ns of the core's clock,
  /// which stands at `coreTime`; 0: the newest report has it, and before the first a start always holds.
  downbeat_host_start start(std::uint64_t name, std::uint32_t ip, std::uint64_t transferBytes, std::uint32_t mss,
                            std::uint64_t coreTime, downbeat_estimate &estimate);
  void report(std::uint64_t name, std::uint32_t ip, const downbeat_path_report &report);
  void closed(std::uint64_t name, std::uint32_t ip);
  /// Sends and takes what is due.
  void run() { call_.run(site_); }

private:
  struct Calls {
    decltype(&downbeat_site_create) create;
    decltype(&downbeat_site_destroy) destroy;
    decltype(&downbeat_site_run) run;
    decltype(&downbeat_site_open) open;
    decltype(&downbeat_site_report) report;
    decltype(&downbeat_site_close) close;
    decltype(&downbeat_site_expect) expect;
    decltype(&downbeat_site_request) request;
  };

  Calls call_{};
  downbeat_site *site_ = nullptr;
  std::uint32_t method_ = DOWNBEAT_SPAND;
  std::uint64_t wait_ = 0; // ns
  std::unordered_map<std::uint64_t, PathCounts> open_;
  std::unordered_map<std::uint32_t, std::uint64_t> resumes_; // by address: who uses its saved parameters
  std::uint64_t coreTime_ = 0, coreTimeAt_ = 0; // ns: of the newest report by the core's clock, and when it came
};

} // namespace downbeat
