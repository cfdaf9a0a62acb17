// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.time.Instant
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** The probe of a lost tail. */
case class TailLossProbeState(config: DownbeatConfig) extends Bundle {
  /** The probe is to be sent. */
  val due = Bool()
  /** It is a retransmission; otherwise it is new data. */
  val again = Bool()
  /** The probe is outstanding (TLP.end_seq holds). */
  val out = Bool()
  /** TLP.end_seq: SND.MAX when the probe was sent. */
  val end = NearNumber(config.sendNumberBits)
}

/** Tail loss probe (RFC 8985 7): when no ACK has come for two round trips since the last segment left, a segment of new
  * data leaves whatever cwnd, or the last segment again. Its ACK makes a lost tail known without a timeout.
  *
  * The two round trips count from the departure of the last segment, which the ACKs of earlier ones do not change. If
  * one segment alone is outstanding, its ACK may be delayed; so may it when the ACK before has acknowledged more than
  * one.
  *
  * In recovery the same time sends the segment at SND.UNA again, once. It counts from the loss, from a retransmission,
  * and from an ACK of new data that leaves none out; if there is no other deadline, from any ACK and from the end of a
  * reordering window.
  */
class TailLossProbe(val view: RecoveryView, early: EarlyTimer) extends Area {
  import view._
  import signals._
  private val delayedAck = U(Instant.nanoseconds(200 ms), 39 bits) // TLP.max_ack_delay, as Linux has it

  private val place = new s0.Area {
    val reached = insert(!UNACKNOWLEDGED.isBefore(before.tail.end))
    val beyond = insert(before.tail.end.isBefore(UNACKNOWLEDGED))
    /** It may be the ACK of a segment that came twice. */
    val repeats = insert(event.isSegment && ACKNOWLEDGMENT.value === UNACKNOWLEDGED.value && !LENGTH.orR && !FLAGS.fin)
    val unsent = insert(WRITTEN.since(HIGHEST_SENT)) // signed
    val withOneMore = insert(OUTSTANDING + SEGMENT_SIZE)
    val lone = insert(!(SEGMENT_SIZE.resize(32) < OUTSTANDING))
    val stretches = insert(SEGMENT_SIZE.resize(32) < ACKED)
    val isProbe = insert(event.isSent && before.tail.due)
  }
  /** The probe has left. */
  val sent: Payload[Bool] = place.isProbe

  private val judge = new s1.Area {
    private val probed = event.isSegment && before.tail.out && place.reached
    /** RFC 8985 7.4.2: data behind the probe is acknowledged and nothing came twice, so the probe repaired a loss. */
    val repaired = insert(probed && ADVANCED && place.beyond && before.tail.again && !CAME_TWICE)
    val ends = insert(probed && (ADVANCED && (place.beyond || !before.tail.again) || CAME_TWICE ||
      !ADVANCED && place.repeats))
    val hasNew = insert(!place.unsent.msb && !(place.unsent < SEGMENT_SIZE.resize(32)) &&
      !(SEND_WINDOW < place.withOneMore))
    val twoRoundTrips = insert(before.roundTrip.smoothed8 >> 2)
  }
  /** There is a full segment of new data, and the peer's window takes it. On step 1. */
  val hasNew: Payload[Bool] = judge.hasNew
  /** The congestion window is to be reduced for a loss that the probe repaired. On step 1. */
  val repaired: Payload[Bool] = judge.repaired

  private val expire = new s2.Area {
    val expired = insert(early.expired && before.early.purpose === EarlyPurpose.tailLossProbe)
    val delayed = insert(place.lone && (event.isSent || place.stretches))
    /** The time is that of a connection without loss. */
    val eligible = insert(SELECTIVE && !before.recovery.noTailLossProbe && before.roundTrip.sampled && !event.shut &&
      flight.any && !OPENING)
  }
  /** Something leaves again: the probe, or, in recovery, the segment at SND.UNA. */
  val probes = new s3.Area {
    val eligible: Payload[Bool] = expire.eligible
    val again = insert(expire.expired && before.recovering)
    val interval = insert(judge.twoRoundTrips.resize(39) + Mux[UInt](expire.delayed, delayedAck, U(0, 39 bits)))
    /** The deadline starts, if no loss is under repair, or one is. */
    val startsOpen = insert(expire.eligible && (event.isSent && !RESENT ||
      ADVANCED && (expire.delayed || before.early.purpose =/= EarlyPurpose.tailLossProbe)))
    private val isIdle = event.isSegment && before.early.purpose === EarlyPurpose.none
    private val windowEnds = early.expired && before.early.purpose === EarlyPurpose.reordering
    val startsRecovering = insert(expire.eligible && before.recovering &&
      ((event.isSent && RESENT || isIdle || windowEnds) && !before.tail.out || ADVANCED && isIdle))
    /** The same, if no retransmission is out. */
    val advancesRecovering = insert(before.recovering && ADVANCED)
  }

  /** On step 5: the state after the event; `forgets`: a loss is found, by whatever means. */
  def update(after: RecoveryState, forgets: Bool): Unit = new s5.Area {
    private val fires = expire.expired && !before.recovering
    after.tail.due := !forgets && (fires || before.tail.due && !event.isSent && !ADVANCED)
    after.tail.again := before.tail.again
    when(fires)(after.tail.again := !judge.hasNew)
    when(place.isProbe)(after.tail.again := RESENT)
    when(probes.again)(after.tail.again := False)
    after.tail.out := !forgets && (place.isProbe || probes.again || before.tail.out && !judge.ends)
    after.tail.end := before.tail.end
    when(place.isProbe)(after.tail.end := low(HIGHEST_SENT))
    when(probes.again)(after.tail.end := low(UNACKNOWLEDGED))
  }
}
