// SPDX-License-Identifier: BSD-2-Clause-Patent
// iperf3 -s -1 on the core: one test of `iperf3 -c`, over TCP, also with -R, -P, and -n, -k or -t.
#pragma once

#include <vector>

#include "iperf3.h"
#include "options.h"

class Iperf3Server : public Iperf3 {
public:
  /// Listens on `options.port`.
  Iperf3Server(downbeat_device *device, const Options &options);

private:
  struct Visitor {
    downbeat_sim_connection connection;
    std::string cookie;
  };
  /// True once the control connection and `streams` others with its cookie are open.
  bool admit(std::size_t streams);
  bool takeParameters();

  std::uint16_t port_;
  std::vector<Visitor> visitors_; // connections whose cookie has not arrived
  std::string cookie_;
  std::size_t streamsWanted_ = 1;
};
