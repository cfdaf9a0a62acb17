// SPDX-License-Identifier: BSD-2-Clause-Patent
// Interface of a sending host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ns3/nstime.h>

struct SenderReport {
  std::uint64_t segments = 0;        // data segments sent, with retransmissions
  std::uint64_t retransmissions = 0;
  std::vector<double> rttSamples;    // ms
  double wallSeconds = 0;            // time in the sender itself, if known
  std::vector<std::pair<std::string, std::string>> details; // for the report and for a run that stalled
};

class Sender {
public:
  virtual ~Sender() = default;
  /// Connects and sends the file, then closes its side.
  virtual void start(std::vector<std::uint8_t> file) = 0;
  /// The reason why it cannot go on; none while it can.
  virtual std::optional<std::string> failure() const = 0;
  /// True when both sides have closed.
  virtual bool closed() const = 0;
  /// Frames that have left so far.
  virtual std::uint64_t sent() const = 0;
  virtual SenderReport report() const = 0;
};
