// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import spinal.core._
import spinal.lib.misc.pipeline._

/** Timestamps of a connection (RFC 7323 3 to 5). */
case class TimestampState() extends Bundle {
  /** Both have agreed; before the peer's SYN: we offer. */
  val agreed = Bool()
  val offset = UInt(32 bits) // of our TSval from the clock
  val recent = UInt(32 bits) // TS.Recent
  val recentEpoch = UInt(4 bits) // when it was set, units of 78 hours
}

/** Whether a segment's timestamps let it pass: RFC 7323 5.3 (PAWS), and 3.2 for one without. */
class TimestampCheck(view: ProtocolView) extends Area {
  import view._
  import signals._

  private val past = s0(before).timestamps
  private val behind = s0.insert((s0(OPTIONS).timestampValue - past.recent).msb)
  /** After 24 days TS.Recent says nothing (RFC 7323 5.5). */
  private val forgotten = s0.insert((s0(EPOCH) - past.recentEpoch).msb)
  val isOld = s1.insert(s1(behind) && !s1(forgotten))
  private val ahead = s0.insert((past.recent - s0(OPTIONS).timestampValue).msb)
  /** Both SYNs of a 4-tuple's connections have timestamps: then they say which is the later (RFC 6191 2). */
  val decides = s1.insert(s1(before).timestamps.agreed && s1(OPTIONS).timestampValid)
  val isLater = s1.insert(s1(ahead))
  val isSame = s1.insert(!s1(ahead) && !s1(behind))
  private val checks = s1(before).timestamps.agreed && s1(isSegment) && !s1(FLAGS).rst
  /** Answered by an ACK and otherwise ignored; simply ignored. */
  val outdated = s1.insert(checks && s1(OPTIONS).timestampValid && s1(isOld))
  val missing = s1.insert(checks && !s1(OPTIONS).timestampValid)
}

/** Agreement, TS.Recent, and what our own segments say: TSval counts 2^20 ns (1.05 ms). */
class Timestamps(view: ProtocolView, check: TimestampCheck, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._

  private val past = s0(before)
  private val ackCovers = s0.insert(!past.acknowledgments.lastSent.isBefore(s0(SEQUENCE)))
  /** RFC 7323 4.3 (2): what a delayed ACK echoes is the oldest segment that it acknowledges. */
  private val isNewest = s3.insert(s3(verdict.ordinary) && s3(OPTIONS).timestampValid && s3(ackCovers) && !s3(check.isOld))
  private val takes = s4.insert(s4(isNewest) || s4(verdict.receivesSyn))

  private val offset = s1.insert(s1(OPENING) ? s1(TIMESTAMP_OFFSET) | s1(before).timestamps.offset)
  s4(TIMESTAMPED) := s4(verdict.receivesSyn) ? (s4(isOpen) || s4(OPTIONS).timestampValid) | s4(before).timestamps.agreed
  s2(TIMESTAMP_VALUE) := s2(offset) + (s2(EPOCH) @@ s2(NOW).ns(47 downto 20))
  s5(TIMESTAMP_ECHO) := s5(isOpen) ? U(0, 32 bits) | (s5(takes) ? s5(OPTIONS).timestampValue | s5(before).timestamps.recent)

  val after = TimestampState()
  after.agreed := s5(TIMESTAMPED)
  after.offset := s5(offset)
  after.recent := s5(TIMESTAMP_ECHO)
  after.recentEpoch := s5(takes) ? s5(EPOCH) | s5(before).timestamps.recentEpoch
}
