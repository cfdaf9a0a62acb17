// SPDX-License-Identifier: BSD-2-Clause-Patent
// Packets that leave at given times whatever the path returns, and their arrivals: pairs that measure a path.
#pragma once

#include <cstdint>
#include <vector>

#include <ns3/socket.h>

#include "network.h"
#include "plan/json.h"
#include "plan/plan.h"

class Pairs {
public:
  Pairs(const PairsPlan &plan, const Network &network);
  Pairs(const Pairs &) = delete;
  Pairs &operator=(const Pairs &) = delete;

  void print(Json &json) const;

private:
  static constexpr std::uint16_t port = 39'999;
  static constexpr std::uint32_t headers = 28; // IPv4 and UDP

  void send(std::uint32_t number);
  void arrive();

  const PairsPlan &plan_;
  ns3::Ptr<ns3::Socket> socket_, sink_;
  std::vector<std::int64_t> arrivals_; // ns, of each packet; -1: it has not
};
