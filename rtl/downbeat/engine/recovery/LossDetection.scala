// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.messages.TcpState
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** Finds losses by duplicate ACKs: with SACK as RFC 6675, otherwise as NewReno (RFC 6582), or as Reno (RFC 5681 3.2) if
  * the connection requests that: its recovery ends with the first ACK of new data, and no other begins before all is
  * acknowledged that was outstanding (RFC 6582 3.2, `recover`, and ns-2's `bugFix_`).
  *
  * Each ACK in recovery that brings new SACK information lets two lost segments be sent again, so that no ACK causes a
  * burst. With RACK a loss is one by time, too ([[Rack]]). Of RFC 6675's NextSeg rules 1 and 2 are here. Instead of its
  * rescue (rule 4), a partial ACK sends the next hole again if nothing from there on was, as NewReno does; with RACK if
  * it is lost, or a range was dropped that might tell of it.
  *
  * `acknowledgesPair` (step 2): the ACK acknowledges the first half of an inverted pair.
  */
class LossDetection(
    val view: RecoveryView, board: SackScoreboard, acknowledgesPair: Payload[Bool], tail: TailLossProbe, rack: Rack)
    extends Area {
  import view._
  import signals._

  /** SND.UNA against what recovery keeps. */
  val compare = new s0.Area {
    val beforeRecover = insert(UNACKNOWLEDGED.isBefore(before.recover))
    /** The first ACK of new data ends recovery, partial or not. */
    val endsAtOnce = insert(before.reno && !SELECTIVE)
    val beyondRecover = insert(before.recover.isBefore(UNACKNOWLEDGED))
    val beyondEchoed = insert(before.echoed.isBefore(UNACKNOWLEDGED))
    /** After a timeout or Reno's recovery, until all is acknowledged that was sent before. */
    val rewound = insert(UNACKNOWLEDGED.isBefore(before.recover) && !before.recovering)
  }

  /** The meaning of an ACK of new data or with ECE. */
  val ack = new s1.Area {
    /** A mark reduces the window as a loss does, once a window (RFC 3168 6.1.2); so does a loss that a probe has
      * repaired (RFC 8985 7.4).
      */
    val reduces =
      insert(event.live && (CONGESTION_ECHOED || tail.repaired) && !before.recovering && compare.beyondRecover &&
        compare.beyondEchoed && OUTSTANDING_BEFORE.orR)
    /** A partial and a full acknowledgment (RFC 6582 3.2). */
    val partial = insert(ADVANCED && before.recovering && compare.beforeRecover && !compare.endsAtOnce)
    val recovered = insert(ADVANCED && before.recovering && (!compare.beforeRecover || compare.endsAtOnce))
  }

  /** Duplicates, and how far lost data is sent again. */
  val count = new s2.Area {
    /** A duplicate ACK; with SACK one that tells something new, whatever else it brings, new data included (RFC 6675
      * 2 and 5).
      */
    val isDuplicate =
      insert(event.live && !event.shut && !acknowledgesPair && Mux[Bool](SELECTIVE, board.hasNewSack, DUPLICATE))
    val third = insert(isDuplicate && !ADVANCED && before.duplicates === 2)
    /** Recovery may begin. With SACK from RecoveryPoint on, with the ACK too that ends a recovery (RFC 6675 5 and 5.1);
      * otherwise beyond it (RFC 6582 3.2). Where SND.NXT goes back, all is sent again anyway.
      */
    val mayLose = insert(
      isDuplicate && !RESUMED && !UNDONE &&
        Mux[Bool](SELECTIVE, !compare.beforeRecover, !before.recovering && compare.beyondRecover))
    val inflates = insert(isDuplicate && before.recovering && !SELECTIVE)
    // A cumulative ACK resets the count, and may be the first duplicate itself (RFC 6675 5).
    val duplicates = insert(Mux(ADVANCED || OPENING, isDuplicate.asUInt.resize(2),
        Mux(isDuplicate && before.duplicates =/= 3, before.duplicates + 1, before.duplicates)))
    val nothingResent = insert(!board.highRxt.orR)
    val resendsFurther = insert(event.isSent && RESENT && before.recovering && board.highRxt < flight.sentOffset)
    /** A recovery's first retransmission has left: its ACK is due no sooner than a timeout from now (RFC 6298 5). */
    val restartsTimer = insert(resendsFurther && nothingResent && !before.partial)
    val quota = insert(before.retransmitQuota - (event.isSent && RESENT && before.retransmitQuota.orR).asUInt)
  }

  val judge = new s5.Area {
    val lost = insert(count.mayLose && !rack.waits && (count.third || board.firstIsLost) || rack.lost || rack.probed)
    /** The segment at SND.UNA was sent again in vain. */
    val lostAgain = insert(rack.lostAgain || tail.probes.again)
    /** After a partial ACK: the peer lacks the segment at SND.UNA, which is not only in flight. */
    val isHole =
      insert(!rack.mode.on || board.ranges(0).valid || board.drops || before.dropped || rack.overtaken)
  }
  /** A loss has been found; on step 5. */
  val lost: Payload[Bool] = judge.lost

  private val mark = new s4.Area {
    val lastAcknowledged = insert(SequenceNumber(UNACKNOWLEDGED.value - 1))
  }

  /** On step 5: the state after the event. */
  def update(after: RecoveryState, timedOut: Payload[Bool]): Unit = new s5.Area {
    /** A recovery ends with SND.NXT back at SND.UNA: what it was allowed beyond cwnd is sent again, not in flight. */
    private val rewinds = timedOut || RESUMED || UNDONE
    after.duplicates := Mux[UInt](rewinds, U(0, 2 bits), count.duplicates)
    after.recovering := !OPENING && !rewinds && (before.recovering && !ack.recovered || lost)
    after.reno := Mux(OPENING, PARAMETERS.renoRecovery, before.reno)
    after.partial := !lost && (before.partial || ack.partial)
    // SND.UNA takes along what it has left behind, so that no number is compared with one that is not near.
    after.recover := Mux(ADVANCED && compare.beyondRecover || UNDONE, low(mark.lastAcknowledged), before.recover)
    when(lost || timedOut || RESUMED && STATE =/= TcpState.synReceived)(after.recover := low(HIGHEST_SENT))
    when(OPENING)(after.recover := low(INITIAL_SEQUENCE))
    after.echoed := Mux(OPENING, low(INITIAL_SEQUENCE),
      Mux(ack.reduces, low(HIGHEST_SENT),
        Mux(ADVANCED && compare.beyondEchoed, low(mark.lastAcknowledged), before.echoed)))
    after.retransmitQuota := Mux[UInt](count.isDuplicate || ack.partial || lost, U(2, 2 bits), count.quota)
    RETRANSMIT := !OPENING && !rewinds &&
      ((lost || rack.lostWithin || ack.partial && judge.isHole) && (!SELECTIVE || count.nothingResent) || judge.lostAgain ||
        before.retransmit && !RESENT && !ack.recovered)
    after.retransmit := RETRANSMIT
  }
}
