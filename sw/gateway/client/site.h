// SPDX-License-Identifier: BSD-2-Clause-Patent
// A host of a site (downbeat_site.h) as a class.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "client.h"
#include "downbeat_site.h"
#include "wire/socket.h"

namespace downbeat::gateway {

class Site {
public:
  /// Without a gateway.
  explicit Site(const downbeat_estimator_options &options);
  Site(const Site &) = delete; // the estimator calls it back
  Site &operator=(const Site &) = delete;
  /// Why not, if not.
  std::string connect(const std::string &uri, const std::string &key, Nanoseconds flush);

  bool valid() const { return estimator_ != nullptr; }
  int descriptor() const { return client_ ? peer_.descriptor() : -1; }
  void run();

  downbeat_cause open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote);
  downbeat_cause report(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote,
                        const downbeat_path_report &report);
  downbeat_cause close(std::uint64_t now, std::uint64_t connection);
  bool expect(const downbeat_address &remote, Nanoseconds timeout);
  /// Sends the reports that are left; a gateway that does not answer gets some time.
  void finish();
  downbeat_source request(std::uint64_t now, const downbeat_start_request &request, downbeat_host_start &start);
  downbeat_site_status status() const;

private:
  struct Destroy {
    void operator()(downbeat_estimator *estimator) const { downbeat_estimator_destroy(estimator); }
  };
  struct Open {
    downbeat_address remote{};
    std::uint16_t segmentSize = 0;
  };
  /// The state of a prefix's connections that the gateway has, so that changes alone are sent.
  struct ReportedState {
    double steady = 0, slow = 0, window = 0;
    bool operator==(const ReportedState &) const = default;
  };

  /// Segments per ACK that the gateway has, and the number of its reports.
  struct Acked {
    std::uint32_t reports = 0;
    double sum = 0;
  };

  /// Until `done`, at most `timeout`.
  void serve(Nanoseconds timeout, const std::function<bool()> &done);
  Prefix prefixOf(const downbeat_address &remote) const;
  void learned(const downbeat_learned &learned);
  double segmentsPerAck(const Prefix &prefix, const downbeat_learned &learned);
  void tellState(std::uint64_t now, const Open &open);

  downbeat_estimator_options options_;
  std::unique_ptr<downbeat_estimator, Destroy> estimator_;
  Peer peer_;
  std::unique_ptr<Client> client_;
  std::unordered_map<std::uint64_t, Open> opened_; // by connection
  std::unordered_map<Prefix, ReportedState, PrefixHash> reported_;
  std::unordered_map<Prefix, Acked, PrefixHash> acked_;
  std::array<std::uint64_t, 3> starts_{}; // by source
};

} // namespace downbeat::gateway
