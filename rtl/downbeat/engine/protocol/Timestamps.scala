// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.TcpState
import downbeat.time.{Epoch, Instant}
import spinal.core._
import spinal.lib.misc.pipeline._

/** A connection's state of timestamps (RFC 7323 3 to 5). */
case class TimestampState() extends Bundle {
  /** Both ends have agreed on timestamps. Before the peer's SYN: we offer them. */
  val agreed = Bool()
  val offset = UInt(32 bits) // from the clock to our TSval
  val recent = UInt(32 bits) // TS.Recent
  val recentEpoch = UInt(Epoch.bits bits) // when TS.Recent was set, in units of 78 hours
}

/** Whether a segment's timestamps let it pass: PAWS (RFC 7323 5.3), and 3.2 for a segment without timestamps. */
class TimestampCheck(val view: ProtocolView) extends Area {
  import view._
  import signals._

  private val order = new s0.Area {
    val earlier = insert((OPTIONS.timestampValue - before.timestamps.recent).msb)
    /** TS.Recent is valid for 24 days at most (RFC 7323 5.5). Seven units are 19.6 to 22.8 days, by the phase of the
      * clock. A peer whose clock ticks in milliseconds seems to go back after 24.9 days, 74.6 days, and so on.
      */
    val invalid = insert(EPOCH - before.timestamps.recentEpoch >= 7)
  }
  val paws = new s1.Area {
    val isOld = insert(order.earlier && !order.invalid)
    private val checked = before.timestamps.agreed && kind.segment && !FLAGS.rst
    /** The segment is answered by an ACK and otherwise ignored. */
    val outdated = insert(checked && OPTIONS.timestampValid && isOld)
    /** The segment has no timestamps and is ignored; a SYN is of a peer that has restarted, and is challenged (RFC 5961
      * 4.2).
      */
    val missing = insert(checked && !OPTIONS.timestampValid && !FLAGS.syn)
  }
}

/** The agreement on timestamps, TS.Recent, and the timestamps of our own segments. TSval counts 2^20 ns (1.05 ms). */
class Timestamps(val view: ProtocolView, check: TimestampCheck, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  import check.paws
  import verdict.{peerSyn, segment}

  private val lastAck = new s0.Area {
    val reaches = insert(!before.acknowledgments.lastSent.isBefore(SEQUENCE))
  }
  private val own = new s1.Area {
    val offset = insert(Mux[UInt](OPENING, TIMESTAMP_OFFSET, before.timestamps.offset))
  }
  private val value = new s2.Area {
    TIMESTAMP_VALUE := own.offset + Timestamps.clock(EPOCH, NOW)
  }
  /** A delayed ACK echoes the oldest segment that it acknowledges (RFC 7323 4.3 (2)). */
  private val echo = new s3.Area {
    val isNewest = insert(segment.ordinary && OPTIONS.timestampValid && lastAck.reaches && !paws.isOld)
  }
  private val recent = new s4.Area {
    val isReplaced = insert(echo.isNewest || peerSyn.taken)
  }
  private val agreement = new s4.Area {
    /** It ends before the peer has answered. */
    private val lapses = before.state === TcpState.synSent && STATE === TcpState.closed
    TIMESTAMPED := Mux(peerSyn.taken, kind.open || OPTIONS.timestampValid, before.timestamps.agreed && !lapses)
  }

  val after = TimestampState()
  private val update = new s5.Area {
    TIMESTAMP_ECHO := Mux(kind.open, U(0, 32 bits),
      Mux(recent.isReplaced, OPTIONS.timestampValue, before.timestamps.recent))
    after.agreed := TIMESTAMPED
    after.offset := own.offset
    after.recent := TIMESTAMP_ECHO
    after.recentEpoch := Mux[UInt](recent.isReplaced, EPOCH, before.timestamps.recentEpoch)
  }
}

object Timestamps {
  /** The clock of TSval, in units of 2^20 ns. */
  def clock(epoch: UInt, now: Instant): UInt = epoch(3 downto 0) @@ now.ns(47 downto 20)
}
