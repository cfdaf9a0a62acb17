// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** Reordering of a connection's path, and losses by time. */
case class RackState(config: DownbeatConfig) extends Bundle {
  /** RACK.reordering_seen: a segment was delivered behind one that was sent later. */
  val seen = Bool()
  /** RACK.reo_wnd_mult less one: quarters of the smallest round trip. */
  val steps = UInt(2 bits)
  /** RACK.reo_wnd_persist: recoveries until `steps` returns to zero. */
  val persist = UInt(4 bits)
  /** When the reordering window began, the peer held something before this number. */
  val end = NearNumber(config.sendNumberBits)
  /** The holes before this number are lost. */
  val lostEnd = NearNumber(config.sendNumberBits)
  /** SND.MAX when the segment at SND.UNA was last sent again, or when SND.UNA came to one that had been. */
  val resent = NearNumber(config.sendNumberBits)
  val hasResent = Bool()
  /** Data before this number left before all retransmissions that are out. */
  val earlier = NearNumber(config.sendNumberBits)
  /** The segment at SND.UNA was sent again in vain; so was the one before it that went again. */
  val lostAgain, lostBefore = Bool()
}

/** RACK (RFC 8985 6): data is lost if the peer holds what was sent later, and the reordering window has passed.
  *
  * The window counts from the ACK that reports the later data. So it ends with RACK's own, or later by the time between
  * the two departures. It is a quarter of the smallest round trip, wider after a reduction that was undone, and at most
  * SRTT. Until reordering is seen, three segments behind a hole make it lost without a wait, and in recovery anything
  * does. So does a tail loss probe that the peer holds: what is missing before it was sent two round trips earlier. The
  * peer holds the probe, and not the same segment sent before, if most of a round trip lies between (6.2 step 2); the
  * smallest round trip may have waited for a delayed ACK.
  *
  * The segment at SND.UNA that was sent again is lost if the peer reports data that was sent after it, or if no ACK comes
  * for two round trips ([[TailLossProbe]]). HighRxt does not say when the others went, so each is found when SND.UNA
  * comes to it. After two in a row all are taken for lost.
  *
  * When a retransmission has arrived, all that left before it and is missing is lost (`overtaken`): in recovery at once,
  * else after the window. It is the retransmission that has arrived, and not the segment sent first, if most of a round
  * trip has passed since. With reordering it says nothing.
  */
class Rack(val view: RecoveryView, board: SackScoreboard, early: EarlyTimer, tail: TailLossProbe) extends Area {
  import view._
  import signals._

  val mode = new s0.Area {
    val on = insert(SELECTIVE && !before.recovery.noRack)
    /** A number of segments does not make a loss. */
    val waits = insert(SELECTIVE && !before.recovery.noRack && before.rack.seen)
    val endOffset = insert(before.rack.end.since(UNACKNOWLEDGED)) // signed
    val lostOffset = insert(before.rack.lostEnd.since(UNACKNOWLEDGED)) // signed
    val resentOffset = insert(before.rack.resent.since(UNACKNOWLEDGED)) // signed
    val earlierOffset = insert(before.rack.earlier.since(UNACKNOWLEDGED)) // signed
    val probeOffset = insert(before.tail.end.since(UNACKNOWLEDGED)) // signed
    private val ranges = before.scoreboard.ranges
    val topBefore = insert(Rack.top(ranges.map(_.right), ranges.map(_.right.orR)))
    private val pairsOut = if (config.policiesPace) before.pairs.any else False
    /** A hole has closed that was not sent again. */
    val reorders = insert(ADVANCED && ranges(0).left.orR && !before.scoreboard.highRxt.orR && !before.recovering &&
      !before.tail.out && !pairsOut)
    val isFirst = insert(SEQUENCE.value === UNACKNOWLEDGED.value)
  }

  private val window = new s1.Area {
    private val quarter = before.roundTrip.minimum >> 2
    val one = insert(quarter.resize(36))
    val two = insert((quarter << 1).resize(36))
    /** The smallest round trip less the time since the deadline, which was the probe's; signed. */
    val short = insert(early.until + before.roundTrip.minimum)
    /** A peer may leave out a FIN. */
    val beforeFin = insert(mode.probeOffset - 1)
    val grew = insert(!mode.endOffset.msb && mode.endOffset < mode.topBefore.resize(32))
    val missesReported = insert(!mode.endOffset.msb && mode.endOffset.orR)
  }
  private val widen = new s2.Area {
    val more = insert(before.rack.steps.mux(0 -> U(0, 37 bits), 1 -> window.one.resize(37), 2 -> window.two.resize(37),
        default -> (window.one +^ window.two)))
    val runs = insert(before.early.purpose === EarlyPurpose.reordering)
    val expired = insert(early.expired && runs)
    val smoothed = insert(before.roundTrip.smoothed8 >> 3)
    val passed = insert((window.short - window.one).msb)
    /** As `short`, since the start of the probe's deadline. */
    val shortSinceStart = insert(window.short - (before.roundTrip.smoothed8 >> 2))
    private val held = before.scoreboard.ranges(0)
    private val holdsRest =
      held.left.orR && !(flight.sentOffset < held.left) && !(held.right < before.scoreboard.highRxt)
    /** The segment at SND.UNA has left again, and no other retransmission is out. */
    val resendsOne =
      insert(event.isSent && RESENT && mode.isFirst && (holdsRest || !(flight.sentOffset < board.highRxt)))
    val missesEarlier = insert(!mode.earlierOffset.msb && mode.earlierOffset.orR)
  }
  private val total = new s3.Area {
    val sum = insert(window.one.resize(38) + widen.more)
    /** The reordering window has passed. */
    val lost = insert(widen.expired && !before.recovering)
    val lostWithin = insert(widen.expired && event.repairs && window.missesReported)
    private val passedSinceStart = (widen.shortSinceStart - window.one).msb
    private val arrived = before.scoreboard.highRxt.orR && !board.highRxt.orR &&
      Mux[Bool](before.tail.out, widen.passed, passedSinceStart)
    val overtaken = insert(mode.on && !mode.waits && ADVANCED && !RESUMED && !UNDONE && arrived && widen.missesEarlier)
  }
  /** The reordering window has passed outside recovery. On step 3. */
  val lost: Payload[Bool] = total.lost
  /** It has in recovery, and something is missing. On step 3. */
  val lostWithin: Payload[Bool] = total.lostWithin
  val waits: Payload[Bool] = mode.waits
  /** The reordering window has begun. */
  val runs: Payload[Bool] = widen.runs
  val interval = new s4.Area {
    val ns = insert(Mux[UInt](total.sum.resize(39) < widen.smoothed.resize(39), total.sum.resize(39),
        widen.smoothed.resize(39)))
    private val blocks = board.ranges
    val top = insert(Rack.top(blocks.map(_.right), blocks.map(_.valid)))
    private val reported = blocks(0).valid && (!event.repairs || before.rack.seen) &&
      (ADVANCED || widen.expired && window.grew ||
        board.hasNewSack && !widen.runs)
    val overtakenWithin = insert(total.overtaken && event.repairs)
    /** The reordering window begins, unless the event finds a loss. */
    val begins = insert(mode.on && !OPENING && (reported || total.overtaken && !event.repairs))
    /** The peer may report the probe. */
    val expects = insert(mode.on && before.tail.out && !before.recovering && board.hasNewSack && widen.passed &&
      !OPENING && !RESUMED && !UNDONE)
    private def isNear(offset: UInt) = !(offset >> widthOf(top)).orR
    val probeNear = insert(isNear(mode.probeOffset))
    val finNear = insert(isNear(window.beforeFin))
  }
  val begins: Payload[Bool] = interval.begins
  /** In recovery a retransmission has arrived; data that left before it and is missing is lost. On step 4. */
  val overtaken: Payload[Bool] = interval.overtakenWithin

  private val judge = new s5.Area {
    private val reported = Mux[UInt](waits, mode.lostOffset, interval.top.resize(32))
    /** The segment at SND.UNA was sent again, and the peer holds what was sent after that, or no ACK came. */
    val lostAgain = insert(mode.on && before.recovering && (tail.probes.again ||
      before.rack.hasResent && board.hasNewSack && !ADVANCED && !reported.msb && !mode.resentOffset.msb &&
      mode.resentOffset < reported))
    val allLostAgain = insert(lostAgain && before.rack.lostBefore)
    private def isTop(offset: UInt) = interval.top === offset.resize(widthOf(interval.top))
    /** The peer holds the probe. */
    val probed = insert(interval.expects &&
      (interval.probeNear && isTop(mode.probeOffset) || interval.finNear && isTop(window.beforeFin)))
    /** Nothing is missing before what the peer holds. */
    val stops = insert(widen.runs && !board.ranges(0).valid && !window.missesReported)
  }
  /** The segment at SND.UNA is lost for a second time. On step 5. */
  val lostAgain: Payload[Bool] = judge.lostAgain
  /** Two in a row: what went again before HighRxt is taken for lost. On step 5. */
  val allLostAgain: Payload[Bool] = judge.allLostAgain
  /** The holes before a tail loss probe are lost. On step 5. */
  val probed: Payload[Bool] = judge.probed
  val stops: Payload[Bool] = judge.stops

  /** On step 5: the state after the event; `found`: a recovery begins, `ends`: one ends. */
  def update(after: RecoveryState, found: Bool, ends: Bool): Unit = new s5.Area {
    private val kept = before.rack
    after.rack.seen := !OPENING && (kept.seen || mode.on && (mode.reorders || UNDONE))
    after.rack.steps := kept.steps
    after.rack.persist := kept.persist
    when(ends && kept.persist.orR)(after.rack.persist := kept.persist - 1)
    when(ends && kept.persist === 1)(after.rack.steps := 0)
    when(UNDONE) {
      after.rack.steps := Mux(kept.steps === 3, kept.steps, kept.steps + 1)
      after.rack.persist := 15
    }
    when(OPENING) {
      after.rack.steps := 0
      after.rack.persist := 0
    }
    after.rack.end := Mux[NearNumber](begins, low(UNACKNOWLEDGED + interval.top), kept.end)
    when(begins && !board.ranges(0).valid)(after.rack.end := kept.earlier)
    // SND.UNA takes along what it has left behind.
    after.rack.lostEnd := kept.lostEnd
    when(widen.expired)(after.rack.lostEnd := kept.end)
    when(OPENING || mode.lostOffset.msb || found && !widen.expired)(after.rack.lostEnd := low(UNACKNOWLEDGED))
    when(probed)(after.rack.lostEnd := low(UNACKNOWLEDGED + interval.top))
    when(overtaken)(after.rack.lostEnd := kept.earlier)
    after.rack.lostAgain := after.recovering && !allLostAgain && (lostAgain || kept.lostAgain && !ADVANCED)
    after.rack.lostBefore :=
      after.recovering && !allLostAgain && Mux[Bool](ADVANCED, kept.lostAgain, kept.lostBefore)
    after.rack.resent := kept.resent
    // HighRxt outlives a recovery, so that the next one may begin at a segment that was sent again before.
    after.rack.hasResent :=
      !OPENING && !lostAgain && Mux[Bool](ADVANCED || found, board.highRxt.orR, kept.hasResent)
    after.rack.earlier := Mux[NearNumber](widen.resendsOne, low(HIGHEST_SENT), kept.earlier)
    when(OPENING || mode.earlierOffset.msb)(after.rack.earlier := low(UNACKNOWLEDGED))
    when(ADVANCED || event.isSent && RESENT && mode.isFirst)(after.rack.resent := low(HIGHEST_SENT))
    when(event.isSent && RESENT && mode.isFirst && before.recovering)(after.rack.hasResent := True)
  }
}

object Rack {
  /** The end of the highest range, which is the last that there is. */
  def top(ends: collection.Seq[UInt], exist: collection.Seq[Bool]): UInt =
    ends.zip(exist).foldLeft(U(0, widthOf(ends.head) bits)) { case (below, (end, exists)) => Mux(exists, end, below) }
}
