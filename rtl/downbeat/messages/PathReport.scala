// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.time.Instant
import spinal.core._

/** The policy that grows the window, or that none does. */
object PathPhase extends SpinalEnum {
  /** cwnd < ssthresh. */
  val startup = newElement()
  val avoidance = newElement()
  /** A loss is being repaired. */
  val recovery = newElement()
}

/** A connection's measurements of its path, for the host's estimates. It is a level: a newer report replaces an older
  * one, so it counts since the connection was established.
  */
case class PathReport(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val time = Instant()
  val phase = PathPhase()
  /** The connection is gone: its last report. */
  val closed = Bool()
  val segmentSize = UInt(16 bits)
  /** Bytes; in recovery cwnd is ssthresh: nothing that is inflated. */
  val cwnd, ssthresh = UInt(32 bits)
  /** Smoothed and smallest round trip, ns; zero: no sample yet. */
  val smoothedRtt, smallestRtt = UInt(36 bits)
  /** RTTVAR (RFC 6298), ns; all ones: that or more. */
  val rttVariation = UInt(32 bits)
  /** The averaged window (Yu, thesis, p. 26), bytes with 16 fraction bits. */
  val averageWindow = UInt(48 bits)
  /** Sixteenths of a segment that congestion avoidance has earned beyond cwnd: of cwnd bytes that earn a segment, as many
    * have been acknowledged since cwnd changed.
    */
  val growth = UInt(4 bits)
  /** Loss events so far: entries to recovery and first timeouts. Of the last one: when it was seen, cwnd just before
    * it, and whether that was in avoidance.
    */
  val losses = UInt(8 bits)
  val lossTime = Instant()
  val lossWindow = UInt(32 bits) // bytes
  val lossInAvoidance = Bool()
  /** Restarts after idleness, and retreats of a start-up policy from an unsafe window, so far. */
  val restarts, retreats = UInt(8 bits)
  /** Bytes acknowledged, and ACKs of new data. */
  val acked = UInt(48 bits)
  val acks = UInt(24 bits)
}
