/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/// A path report: refused by cause, or taken into its connection, its prefix, SPAND's sums and the saved parameters.
#include <algorithm>

#include "equations.h"
#include "estimator.h"

namespace downbeat::estimator {

namespace {

constexpr uint64_t fastest = 125; // bytes a nanosecond: 1 Tb/s
constexpr uint64_t savedWindows = 4; // initial windows; less is not worth saving (RFC 9959 3.1)

uint32_t changed(uint8_t now, uint8_t before) { return static_cast<uint8_t>(now - before); }

} // namespace

Cause Estimator::report(uint64_t now, const Report &report) {
  now = at(now);
  Connection *connection = report.connection == 0 ? nullptr : table_.find(report.connection);
  if (const Cause cause = check(now, report, connection)) return refuse(cause);
  const bool lost = changed(report.losses, connection->losses), restarted = report.restarts != connection->restarts;
  connection->roundTrip = report.smoothed_rtt;
  if (lost) takeLosses(report, *connection);
  if (restarted) { // cwnd may be smaller already: the one before counts
    endTransfer(*connection, report.time);
    connection->restarts = report.restarts;
    connection->transferAcked = report.acked;
  }
  takeWindow(now, report, *connection, lost);
  takeRound(report, *connection, lost || restarted || report.phase == DOWNBEAT_PHASE_RECOVERY);
  connection->acked = report.acked;
  connection->acks = report.acks;
  connection->time = report.time;
  return DOWNBEAT_CAUSE_NONE;
}

Cause Estimator::check(uint64_t now, const Report &report, const Connection *connection) const {
  const uint64_t maxWindow = uint64_t{options_.maximum_window} * report.segment_size;
  if (report.time > now) return DOWNBEAT_CAUSE_FUTURE;
  if (!connection) return DOWNBEAT_CAUSE_UNKNOWN;
  if (report.time < connection->time || now - report.time > options_.live) return DOWNBEAT_CAUSE_STALE;
  if (!same(report.remote, connection->remote)) return DOWNBEAT_CAUSE_OTHER_PATH;
  if (report.segment_size < minSegment) return DOWNBEAT_CAUSE_SEGMENT;
  if (report.phase > DOWNBEAT_PHASE_RECOVERY) return DOWNBEAT_CAUSE_PHASE;
  const uint64_t window = report.phase == DOWNBEAT_PHASE_RECOVERY ? report.ssthresh : report.cwnd;
  if (window == 0 || window > maxWindow || report.average_window >> 16 > maxWindow || report.growth > 15)
    return DOWNBEAT_CAUSE_WINDOW;
  if (report.smoothed_rtt > longestRoundTrip || report.smallest_rtt > report.smoothed_rtt)
    return DOWNBEAT_CAUSE_ROUND_TRIP;
  if (report.losses != connection->losses)
    if (const Cause cause = checkLoss(report, *connection, maxWindow)) return cause;
  if (report.acked < connection->acked || report.acks < connection->acks) return DOWNBEAT_CAUSE_COUNTER;
  const uint64_t acked = report.acked - connection->acked, elapsed = report.time - connection->time;
  if (report.acks - connection->acks > acked) return DOWNBEAT_CAUSE_COUNTER; // each acknowledges a byte or more
  if (acked > maxWindow && (acked - maxWindow) / fastest > elapsed) return DOWNBEAT_CAUSE_COUNTER;
  return DOWNBEAT_CAUSE_NONE;
}

Cause Estimator::checkLoss(const Report &report, const Connection &connection, uint64_t maxWindow) const {
  const uint64_t earliest = connection.drops.count ? connection.drops.last : connection.opened;
  if (report.loss_time < earliest || report.loss_time > report.time) return DOWNBEAT_CAUSE_LOSS;
  if (report.loss_window == 0 || report.loss_window > maxWindow) return DOWNBEAT_CAUSE_WINDOW;
  return report.loss_in_avoidance > 1 ? DOWNBEAT_CAUSE_LOSS : DOWNBEAT_CAUSE_NONE;
}

/// A drop is the sender's loss event, at its detection; the prefix's are those of all its connections [Yu 2009, p. 26].
void Estimator::takeLosses(const Report &report, Connection &connection) {
  const uint32_t count = changed(report.losses, connection.losses);
  connection.losses = report.losses;
  connection.lost = true;
  connection.drops.add(report.loss_time, count, options_.miss_weight);
  Drops &prefix = table_.prefixOf(connection).drops;
  // Connections that lose within a round trip lose in one overflow of the queue: one drop.
  if (prefix.count == 0 || report.loss_time >= prefix.last + connection.roundTrip)
    prefix.add(report.loss_time, count, options_.miss_weight);
  if (!report.loss_in_avoidance) return;
  // The window that the path held is one segment less than the one that was lost [Zhang, Qiu, Keshav 2000, 5.1].
  const uint64_t window = (uint64_t{report.loss_window} << 8) / report.segment_size;
  connection.segmentSize = report.segment_size;
  giveSpand(connection, report.time, std::max<uint64_t>(window, 512) - 256, false);
}

void Estimator::takeWindow(uint64_t now, const Report &report, Connection &connection, bool lost) {
  const uint64_t size = report.segment_size, before = connection.window;
  const bool steady = report.phase != DOWNBEAT_PHASE_STARTUP;
  const uint64_t bytes = report.phase == DOWNBEAT_PHASE_RECOVERY ? report.ssthresh : report.cwnd;
  connection.segmentSize = report.segment_size;
  connection.growth = report.growth;
  table_.update(connection, now, steady, (bytes << 16) / size);
  // A loss has cut the window: before, it had grown up to that.
  const uint64_t grown = lost ? (uint64_t{report.loss_window} << 16) / size : connection.window;
  if (report.average_window)
    connection.average = report.average_window / size;
  else if (connection.average)
    connection.average = awnd(connection.average, (before + grown) / 2, report.acks - connection.acks);
  if (steady && connection.average == 0) connection.average = connection.window;
}

/// The volume acknowledged in a round trip is the capacity that is known to be used (RFC 9959 3.1).
void Estimator::takeRound(const Report &report, Connection &connection, bool disturbed) {
  if (report.retreats != connection.retreats) { // RFC 9959 3.5: the parameters are void
    connection.retreats = report.retreats;
    saved_.remove(report.remote);
    disturbed = true;
  }
  const uint64_t elapsed = report.time - connection.roundBegan;
  if (disturbed) connection.delivered = 0;
  if (disturbed || report.smoothed_rtt == 0 || elapsed < report.smoothed_rtt) {
    if (!disturbed) return;
  } else {
    const Uint128 acked = report.acked - connection.roundAcked;
    const uint64_t delivered =
        static_cast<uint64_t>(std::min<Uint128>(acked * report.smoothed_rtt / elapsed, report.cwnd));
    const uint64_t minDelivered = savedWindows * options_.initial_window * report.segment_size;
    if (delivered >= std::max(minDelivered, connection.delivered)) {
      connection.delivered = delivered;
      const uint64_t roundTrip = report.smallest_rtt ? report.smallest_rtt : report.smoothed_rtt;
      saved_.put(report.remote, report.time, delivered, roundTrip);
      learned({.remote = report.remote, .window = delivered, .round_trip = roundTrip, .time = report.time, .saved = 1});
    }
  }
  connection.roundBegan = report.time;
  connection.roundAcked = report.acked;
}

/// A transfer that ends, or rests, without any loss reports its window [Zhang, Qiu, Keshav 2000, 5.1].
void Estimator::endTransfer(Connection &connection, uint64_t time) {
  if (!connection.lost && connection.window && connection.acked > connection.transferAcked)
    giveSpand(connection, time, (connection.window >> 8) + connection.growth * 16u, true);
  connection.lost = false;
}

void Estimator::giveSpand(Connection &connection, uint64_t time, uint64_t window, bool final) {
  if (connection.roundTrip == 0) return;
  // Up: the last segment may be short, and the FIN has an ACK of its own.
  const uint64_t segments =
      (connection.acked - connection.spandAcked + connection.segmentSize - 1) / connection.segmentSize;
  const uint64_t acks = connection.acks - connection.spandAcks;
  const bool counted = acks <= segments && segments <= UINT32_MAX; // several ACKs for a segment say nothing of b
  const SpandSums sums{SpandReports::tick(time), 1, window, connection.roundTrip, counted ? segments : 0,
                       counted ? acks : 0};
  if (addSpand(table_.prefixOf(connection), sums, final))
    learned({.remote = connection.remote,
             .window = window * connection.segmentSize >> 8,
             .round_trip = connection.roundTrip,
             .time = time,
             .saved = 0});
  connection.spandAcked = connection.acked;
  connection.spandAcks = connection.acks;
}

bool Estimator::addSpand(PrefixRecord &record, const SpandSums &sums, bool final) {
  if (final && options_.spand_lower_bound) { // a final window is a lower bound: it does not lower the mean
    const SpandSums all = record.spand.all(now_);
    if (all.reports && sums.windows < all.windows / all.reports) return false;
  }
  record.spand.add(sums);
  return true;
}

} // namespace downbeat::estimator
