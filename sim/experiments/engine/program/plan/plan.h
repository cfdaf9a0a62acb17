// SPDX-License-Identifier: BSD-2-Clause-Patent
// Runs as sim/experiments/engine/plan/lines.py writes them: a line for each thing, `kind key=value ...`, and `next`
// between two runs. Times are ns, rates b/s and sizes bytes as ns-3 counts them.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct QueuePlan {
  std::string size = "100000p"; // ns-3's MaxSize: packets or bytes
  double redLow = 0, redHigh = 0; // packets; 0: drop-tail
};

/// New values of a link from `at` on; -1: as before.
struct LinkChange {
  std::int64_t at = 0, rate = -1, delay = -1;
  double loss = -1;
};

/// A link and its queue, at both ends; `a` and `b` are routers.
struct LinkPlan {
  unsigned a = 0, b = 0;
  std::uint64_t rate = 0;
  std::int64_t delay = 0;
  double loss = 0; // share of the packets from `a` to `b` that the link destroys
  QueuePlan queue;
  std::vector<LinkChange> changes;
};

/// The link of a host or of a core to its router.
struct AccessPlan {
  unsigned at = 0;
  std::uint64_t rate = 0;
  std::int64_t delay = 0;
};

/// A host of a site: the cores that name it share its estimates. `library`: libdownbeat_site; no `uri`: no gateway.
struct SitePlan {
  std::string library, uri, key; // the key's words with commas between them
};

struct WritePlan {
  std::int64_t at = 0;
  std::uint64_t bytes = 0;
};

/// A new argument of the steady policy from `at` on.
struct ArgumentPlan {
  std::int64_t at = 0;
  std::uint64_t argument[2] = {};
};

struct FlowPlan {
  std::string label;
  bool core = true;      // the sender is a core, or ns-3's TCP
  unsigned source = 0;   // a core, or a host
  unsigned host = 0;     // that receives
  std::int64_t start = 0, stop = -1; // -1: never
  std::string startup = "standard", steady = "reno";
  std::uint64_t startupArgument[2] = {}, steadyArgument[2] = {};
  std::string tcp;       // ns-3's congestion control
  std::uint32_t initialWindow = 1;  // segments
  std::uint32_t ssthresh = 0;       // bytes; 0: none
  bool nssr = false;
  bool renoRecovery = false;
  bool rackRecovery = false; // with tail loss probes, undo and the limit of growth
  std::string estimate;  // method of sw/estimator; empty: no request
  bool observed = false; // it reports to the estimator
  std::uint64_t ahead = 0;      // bytes that an endless flow keeps at hand
  std::uint32_t ackEvery = 1;   // segments, of the receiver
  std::int64_t ackTimeout = 200'000'000;
  std::uint64_t rwnd = 1 << 24; // bytes
  bool finish = false;          // closes behind the last write
  bool trace = false;           // each segment, ACK and gap is kept
  std::vector<WritePlan> writes; // none: data without end
  std::vector<ArgumentPlan> arguments;
};

struct TrafficPlan {
  std::string kind = "cbr"; // or poisson, pareto
  std::string from, to;     // r0: a router, h0: a host
  std::vector<std::pair<std::uint32_t, double>> sizes; // bytes of the IP packet, and weight
  std::int64_t start = 0, stop = -1;
  std::int64_t on = 0, off = 0; // pareto: means
  double shape = 0;
  std::vector<std::pair<std::int64_t, std::uint64_t>> rates; // time from which each holds, b/s
};

/// Packets from a host to another, two of them a pair.
struct PairsPlan {
  std::string label;
  unsigned from = 0, to = 0;
  std::uint32_t bytes = 1500;       // size of the IP packet
  std::vector<std::int64_t> leaves; // rising
};

/// Points at which the progress of each connection is kept.
struct Marks {
  std::vector<std::int64_t> times;  // since establishment, rising
  std::vector<std::uint64_t> sizes; // bytes acknowledged, rising
};

/// Choices of the estimators where a paper is silent.
struct EstimatorPlan {
  unsigned missWeight = 2; // weight of a new interval between drops, in thirds
  bool spandLowerBound = false; // a transfer without loss does not lower SPAND's mean window
};

struct Plan {
  std::uint64_t seed = 1;
  std::int64_t duration = 0, measure = 0, sample = 0; // sample 0: no series
  std::int64_t warmUp = 0; // plans may differ in the flows that begin from then on, and in their duration
  bool complete = false; // ends when all writes have been acknowledged
  EstimatorPlan estimator;
  unsigned routers = 2;
  Marks marks;
  std::map<std::string, std::string> defaults; // ns-3 attributes
  std::vector<LinkPlan> links;
  std::vector<AccessPlan> hosts, cores;
  std::vector<SitePlan> sites; // none: one estimator for all cores; else one for each core
  std::vector<FlowPlan> flows;
  std::vector<TrafficPlan> traffic;
  std::vector<PairsPlan> pairs;

  bool isLate(const FlowPlan &flow) const { return warmUp > 0 && flow.start >= warmUp; }

  /// Returns at least one plan. Throws std::runtime_error with the number of a line that it does not know.
  static std::vector<Plan> read(std::istream &in);
};
