/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// Prefixes and their connections: where they lie, who is live, who is the oldest steady one, and what they sum to.
#pragma once

#include "list.h"
#include "rules.h"
#include "spand.h"

namespace downbeat::estimator {

struct Drops {
  uint64_t last = 0;     // ns
  uint64_t interval = 0; // ns, its EWMA
  uint64_t count = 0;

  /// `count` of them since the last ones, at even distances: a slow host knows only when the last was.
  void add(uint64_t time, uint32_t more, uint32_t weight);
};

struct Connection {
  uint64_t name = 0; // 0: free
  downbeat_address remote{};
  uint32_t prefix = nowhere;
  bool live = false;   // reported within the options' time
  bool steady = false; // in congestion avoidance, or in recovery from it
  uint8_t losses = 0, restarts = 0, retreats = 0;
  bool lost = false; // the transfer since the last restart had a loss
  uint16_t segmentSize = 0;
  uint64_t opened = 0; // ns
  uint64_t order = 0;  // number of the open among all
  uint64_t time = 0;   // ns, of the last report
  uint64_t touched = 0; // ns, when it came
  uint64_t window = 0;  // segments, 16 fraction bits
  uint8_t growth = 0;   // sixteenths of a segment beyond it
  uint64_t average = 0; // awnd, likewise
  uint64_t roundTrip = 0;
  Drops drops;
  uint64_t acked = 0, acks = 0;                // so far
  uint64_t spandAcked = 0, spandAcks = 0;    // at the last report to SPAND
  uint64_t transferAcked = 0;                 // at the last restart
  uint64_t roundBegan = 0, roundAcked = 0;   // the round that Careful Resume measures
  uint64_t delivered = 0;                      // bytes of the best round since the last loss
  Links siblings; // the connections of the same prefix, in the order of their opens
};

/// Live connections by `touched`, at the same places: apart from them, since each report moves one.
struct Activity {
  Links links;
};

struct PrefixRecord {
  Prefix prefix;
  uint32_t open = 0, steady = 0, starting = 0; // connections; the last two: live ones
  uint64_t startingSum = 0;                   // segments, 16 fraction bits
  uint32_t oldest = nowhere;                   // steady connection, if it is known
  bool oldestKnown = true;
  bool used = false;
  Ends members;
  Links idle; // without open connections
  Drops drops;
  SpandReports spand;
};

class Table {
public:
  Table(uint32_t prefixes, uint32_t connections, const uint64_t (&secret)[2]);

  Connection *find(uint64_t name);
  PrefixRecord *find(const Prefix &prefix);
  /// NULL: no place. The prefix that has had no connection for longest gives its place.
  PrefixRecord *findOrMake(const Prefix &prefix);
  Connection *open(uint64_t name, const Prefix &prefix, uint64_t now);
  void close(Connection &connection);
  /// A live connection's window and whether it is steady, from now on.
  void update(Connection &connection, uint64_t now, bool steady, uint64_t window);
  /// Those that were last touched before that time do not count any more.
  void expire(uint64_t before, uint32_t maxCount);
  /// The oldest steady connection, but for `but`; NOWHERE: none.
  uint32_t oldest(PrefixRecord &record, uint32_t but);

  PrefixRecord &prefixOf(const Connection &connection) { return prefixes_[connection.prefix]; }
  uint32_t place(const Connection &connection) const {
    return static_cast<uint32_t>(&connection - connections_.data());
  }
  Connection &connection(uint32_t at) { return connections_[at]; }
  std::vector<PrefixRecord> &prefixes() { return prefixes_; }
  size_t bytes() const;

private:
  uint64_t hash(uint64_t name) const { return siphash(secret_, name, 0); }
  void leave(Connection &connection);

  uint64_t secret_[2];
  std::vector<PrefixRecord> prefixes_;
  std::vector<Connection> connections_;
  std::vector<Activity> activities_;
  std::vector<uint32_t> freePrefixes_, freeConnections_;
  Index prefixIndex_, nameIndex_;
  Ends idle_, activity_;
  uint64_t opens_ = 0;
};

} // namespace downbeat::estimator
