// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.Signals
import downbeat.messages.{EventKind, RecoveryChoice, TcpState}
import downbeat.time.NearInstant
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The recovery stage's state of a connection. */
case class RecoveryState(config: DownbeatConfig) extends Bundle {
  private def number(): NearNumber = NearNumber(config.sendNumberBits)
  // Loss recovery (RFC 6582)
  val duplicates = UInt(2 bits) // up to three
  val recovering = Bool()
  /** Without SACK, recovery is Reno's (RFC 5681 3.2). */
  val reno = Bool()
  /** A partial ACK has restarted the timer in this recovery. */
  val partial = Bool()
  /** SND.MAX at the last loss or timeout (RFC 6582 3.2). */
  val recover = number()
  val retransmit = Bool()
  /** Lost segments that may be sent again before another ACK brings new SACK information. */
  val retransmitQuota = UInt(2 bits)
  val scoreboard = Scoreboard(config)
  /** In this recovery a range was dropped for want of space: there may be holes that no range tells of. */
  val dropped = Bool()
  val pairs = config.policiesPace generate InvertedPairsState(config)
  /** SND.MAX when the window was last reduced for a mark (RFC 3168 6.1.2: once a window). */
  val echoed = number()
  val roundTrip = RoundTripState(config)
  // The timer: retransmission, or persist when nothing is outstanding
  val armed = Bool()
  val deadline = NearInstant(config.deadlineBits, config.deadlineUnit)
  val expiries = ExpiryState()
  val early = EarlyTimerState(config)
  val tail = TailLossProbeState(config)
  val rack = RackState(config)
  val undo = UndoState()
  val recovery = RecoveryChoice()
  /** The connection is given up when nothing has been acknowledged until the deadline; both in units of 2^30 ns. */
  val userTimeout = UInt(16 bits) // zero: never
  val userTimeoutDeadline = UInt(18 bits)
  /** The window restarts after idleness (RFC 5681 4.1). When a segment was sent last, or a restart was, as TSval. */
  val restarts = Bool()
  val lastSent = UInt(32 bits)
}

/** The inputs that the parts of recovery share: the steps, the connection before the event, and which event it is. */
class RecoveryView(val config: DownbeatConfig, val signals: Signals, val before: Payload[RecoveryState],
    val steps: Seq[Node])
    extends Area {
  import signals._
  val s0: Node = steps(0)
  val s1: Node = steps(1)
  val s2: Node = steps(2)
  val s3: Node = steps(3)
  val s4: Node = steps(4)
  val s5: Node = steps(5)

  val event = new s0.Area {
    val live = insert(LIVE && STATE =/= TcpState.closed)
    val isSegment = insert(LIVE && KIND === EventKind.segment)
    val isDeparted = insert(LIVE && KIND === EventKind.departed)
    val isTimer = insert(LIVE && KIND === EventKind.timer)
    /** A segment has left that takes sequence space; one past its end. */
    val isSent = insert(LIVE && KIND === EventKind.sent && (LENGTH.orR || FLAGS.syn || FLAGS.fin))
    val sentEnd = insert(SEQUENCE + (LENGTH + FLAGS.syn.asUInt + FLAGS.fin.asUInt))
    /** A recovery goes on, if no loss is found. */
    val repairs = insert(before.recovering && UNACKNOWLEDGED.isBefore(before.recover))
    /** The peer's window is zero. Before its SYN the peer has not given one. */
    val shut = insert(!SEND_WINDOW.orR && STATE =/= TcpState.synSent)
  }
  val flight = new s1.Area {
    /** Something is outstanding: SND.UNA is not SND.MAX. */
    val any = insert(OUTSTANDING.orR)
    /** The end of the segment that has left, from SND.UNA. */
    val sentOffset = insert(event.sentEnd.since(UNACKNOWLEDGED).resize(config.sendOffsetBits))
  }

  def low(number: SequenceNumber): NearNumber = number.low(config.sendNumberBits)
}
