// SPDX-License-Identifier: BSD-2-Clause-Patent
// A connection that sends without end over a Dumbbell, and what is looked at of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ns3/dumbbell.h"
#include "ns3/options.h"

/// From `seconds` on.
struct Step {
  double seconds;
  std::uint64_t udpRate;                   // b/s of IP packets beside the connection on the bottleneck
  std::uint64_t argumentLow, argumentHigh; // what the core's steady policy is told
};

struct Plan {
  std::string sender = "core"; // or ns-3's: reno, highspeed, scalable
  Options path;
  std::string steady = "logistic";
  std::vector<Step> steps; // the first one at 0 s
  std::string events;      // CSV file of the core's events to write; empty: none
  double duration = 10;    // virtual seconds
};

class BulkSender {
public:
  virtual ~BulkSender() = default;
  virtual void start() = 0;
  /// The path has changed; who is not told of paths does nothing.
  virtual void tell(const Step &) {}
  /// Why it ended early; empty: it did not.
  const std::string &failure() const { return failure_; }
  double cwnd() const { return cwnd_; } // bytes
  std::int64_t established() const { return established_; } // ns; 0: not yet
  std::uint64_t smallestRtt() const { return smallestRtt_; } // ns
  std::uint64_t segments() const { return segments_; }
  std::uint64_t retransmissions() const { return retransmissions_; }
  std::uint64_t calculations() const { return calculations_; }

protected:
  std::string failure_;
  double cwnd_ = 0;
  std::int64_t established_ = 0;
  std::uint64_t smallestRtt_ = UINT64_MAX, segments_ = 0, retransmissions_ = 0, calculations_ = 0;
};

std::unique_ptr<BulkSender> coreSender(const Plan &plan, Dumbbell &path);
/// ns-3's defaults of its kind must have been set.
std::unique_ptr<BulkSender> ns3Sender(const Plan &plan, Dumbbell &path);
