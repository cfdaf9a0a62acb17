// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** The rows of [[BbrModelProgram]], in the draft's names, and what its parts share. Flags are 0 or 1. */
private abstract class BbrRows(protected val program: RowProgram, state: Seq[Row]) {
  import BbrRows._
  import program._

  // ---- the connection

  private val kept = state.iterator
  private def keep(count: Int): Seq[Row] = Seq.fill(count)(kept.next())
  /** The state, the window, and bw times the pacing gain. */
  protected val Seq(phase, window, paced) = keep(3)
  protected val Seq(inRecovery, idleRestart, fullBwReached, stopping, bwProbeSample,
    probeRttRoundDone) = keep(6)
  /** The last probe for bandwidth: neither, ended by losses, or ended before them. */
  protected val prevProbe = kept.next()
  /** Totals of the last request. */
  protected val Seq(deliveredBefore, lostBefore) = keep(2)
  /** `lossEvents` of the round, 15 at most. `rounds`: in DRAIN, or since the last ProbeBW_UP, 63 at most. A fullBwCount
    * of 3 is full_bw_now.
    */
  protected val Seq(rounds, extraRounds, lossEvents, fullBwCount) = keep(4)
  protected val Seq(nextRoundDelivered, lossRoundDelivered) = keep(2)
  /** The totals between which what left is application limited, and the one that ends a timeout's recovery, or none. */
  protected val Seq(limitedFrom, limitedUntil, recover) = keep(3)
  /** The filter has the maximum of this cycle and of the last one. */
  protected val Seq(maxBw, maxBwNow, maxBwBefore, bwShortterm, fullBw, bwLatest) = keep(6)
  protected val Seq(inflightLongterm, inflightShortterm, inflightLatest, priorCwnd) = keep(4)
  protected val Seq(extraNow, extraBefore, extraStart, extraDelivered) = keep(4)
  /** probeUpUnit = 2^bw_probe_up_rounds^. */
  protected val Seq(probeUpUnit, probeUpAcked, probeUpAckedPerInc, cycleStamp) = keep(4)
  /** undoState is STARTUP, UP or none. */
  protected val Seq(undoState, undoBw, undoShortterm, undoLongterm) = keep(4)
  protected val Seq(minRtt, minRttStamp, probeRttMinDelay, probeRttMinStamp) = keep(4)
  /** Little is in flight since then, or none. */
  protected val probeRttLowStamp = kept.next()
  require(kept.isEmpty, "all rows of the connection have a name")

  // ---- the request

  protected val Seq(opens, undone, timedOut, restarted, recovering, selective, cwndLimited, appLimited,
    initialWindow, segmentSize, delivered, priorDelivered, interval, lost, priorLost, txInFlight, inFlight, cwnd, rtt,
    now) = takeAll(BbrModelRequest())
  /** Bytes since the last request, and since the sample's segment left. */
  protected val Seq(acked, newlyLost, sampled, sampleLost) = Seq.fill(4)(row())
  protected val Seq(rate, bw, tooHigh, limited, roundStart, lossRoundStart, expired) = Seq.fill(7)(row())
  /** A bandwidth, and its BDP. */
  protected val Seq(bandwidth, bdp) = Seq.fill(2)(row())
  protected val Seq(initialVolume, fourSegments, volume, bound, t, u) = Seq.fill(6)(row())
  protected val Seq(none, noRtt, twoTo32, twoTo48) = Seq.fill(4)(row())

  protected def constants(): Unit = {
    move(t, 0)
    subtract(none, t, 1)
    move(twoTo32, Literal(BigInt(1) << 31))
    add(twoTo32, twoTo32, twoTo32)
    multiply(twoTo48, twoTo32, 1 << 16)
    multiply(noRtt, twoTo32, 1 << 4)
    subtract(noRtt, noRtt, 1)
    multiply(initialVolume, initialWindow, segmentSize)
    multiply(fourSegments, segmentSize, 4)
  }

  protected def ifSet(flag: Row)(body: => Unit): Unit = ifLess(0, flag)(body)
  protected def unlessSet(flag: Row)(body: => Unit): Unit = ifLess(flag, 1)(body)
  protected def ifNegative(row: Row)(body: => Unit): Unit = unlessLess(none, row)(body)
  protected def ifPhase(wanted: Int)(body: => Unit): Unit = {
    val after = new Label
    if (wanted > startup) jumpIfLess(phase, wanted)(after)
    if (wanted < probeRtt) jumpIfLess(wanted, phase)(after)
    body
    place(after)
  }

  /** `t` = now - stamp. */
  protected def since(stamp: Row): Unit = {
    subtract(t, now, stamp)
    ifNegative(t)(add(t, t, twoTo48))
  }
  /** A total modulo 2^32, behind an addition. */
  protected def wrapTotal(total: Row): Unit = unlessLess(total, twoTo32)(subtract(total, total, twoTo32))
  /** The total is at the mark or less than 2^31 behind it. */
  protected def ifReached(total: Row, mark: Row)(body: => Unit): Unit = {
    subtract(t, total, mark)
    ifNegative(t)(add(t, t, twoTo32))
    ifLess(t, Literal(BigInt(1) << 31))(body)
  }
  /** Bytes by which a total is beyond the mark; zero if it is behind it. */
  protected def growth(row: Row, total: Row, mark: Row): Unit = {
    subtract(row, total, mark)
    ifNegative(row)(add(row, row, twoTo32))
    unlessLess(row, Literal(BigInt(1) << 31))(move(row, 0))
  }
  protected def scale(row: Row, gain: Int): Unit = {
    multiply(row, row, gain)
    shift(row, row, gainBits)
  }

  // ---- parts that several places run

  /** The BDP of `bandwidth`, at most 1 GiB; the initial window before there is a round trip (5.6.4.2). */
  private val computeBdp = new Routine({
    val after = new Label
    move(bdp, initialVolume)
    unlessLess(minRtt, noRtt)(jump(after))
    move(t, minRtt)
    atMost(t, Literal((BigInt(1) << 32) - 1))
    multiply(bdp, bandwidth, t)
    add(bdp, bdp, 1 << bandwidthBits - 1)
    shift(bdp, bdp, bandwidthBits)
    atMost(bdp, largest)
    place(after)
  })
  /** SaveCwnd (5.6.4.4). */
  protected val saveCwnd = new Routine({
    val saved = new Label
    jumpIfLess(0, inRecovery)(saved)
    jumpIfLess(up, phase)(saved)
    move(priorCwnd, 0)
    place(saved)
    atLeast(priorCwnd, window)
  })
  /** StartProbeBW_DOWN (5.3.3.9). */
  protected val startDown = new Routine({
    for (row <- Seq(lossEvents, bwLatest, inflightLatest)) move(row, 0)
    shift(t, now, 1)
    add(t, t, t)
    subtract(rounds, now, t) // a random bit
    move(cycleStamp, now)
    move(stopping, 1)
    move(nextRoundDelivered, delivered)
    move(phase, down)
  })
  /** StartProbeBW_REFILL. */
  protected val startRefill = new Routine({
    resetShortterm()
    move(probeUpUnit, 1)
    for (row <- Seq(probeUpAcked, stopping)) move(row, 0)
    ifLess(tooHighProbe, prevProbe)(move(prevProbe, 0))
    move(nextRoundDelivered, delivered)
    move(phase, refill)
  })
  /** `bound` = inflight_longterm without the headroom for others (InflightWithHeadroom). */
  protected val withHeadroom = new Routine({
    move(bound, infinity)
    ifLess(inflightLongterm, infinity) {
      move(t, inflightLongterm)
      scale(t, headroom)
      atLeast(t, segmentSize)
      subtract(bound, inflightLongterm, t)
      atLeast(bound, fourSegments)
    }
  })
  /** CheckProbeRTTDone, ExitProbeRTT (5.3.4.3, 5.3.4.4). */
  protected val checkProbeRttDone = new Routine({
    val after = new Label
    jumpIfLess(probeRttLowStamp, 0)(after)
    since(probeRttLowStamp)
    jumpIfLess(t, second / 5 + 1)(after)
    move(probeRttMinStamp, now)
    atLeast(window, priorCwnd)
    resetShortterm()
    move(phase, startup)
    ifSet(fullBwReached) {
      startDown()
      move(phase, cruise)
    }
    place(after)
  })
  protected def routines: Seq[Routine] =
    Seq(computeBdp, saveCwnd, startDown, startRefill, withHeadroom, checkProbeRttDone)

  private def resetShortterm(): Unit = for (row <- Seq(bwShortterm, inflightShortterm)) move(row, infinity)
  protected def bdpOf(rate: Row): Unit = {
    move(bandwidth, rate)
    computeBdp()
  }
  /** `bdp` = TargetInflight. */
  protected def target(): Unit = {
    bdpOf(bw)
    atMost(bdp, window)
  }
  /** Inflight(rate, 1) in any state but ProbeBW_UP, in `t`. */
  protected def inflight(rate: Row): Unit = {
    bdpOf(rate)
    multiply(t, segmentSize, 6)
    atLeast(t, bdp)
  }
  /** Half a BDP, in `t` (5.6.4.5). */
  protected def probeRttCwnd(): Unit = {
    shift(t, bdp, 1)
    atLeast(t, fourSegments)
  }
  protected def resetFullBw(): Unit = {
    move(fullBw, rate)
    move(fullBwCount, 0)
  }
}

private object BbrRows {
  val Seq(startup, drain, down, cruise, refill, up, probeRtt) = Seq.range(0, 7)
  val Seq(tooHighProbe, precautionaryProbe) = Seq(1, 2)
  /** Fraction bits of gains. */
  val gainBits = 10
  val beta = 717
  val headroom = 154
  val bandwidthBits = 24
  val infinity = Literal((BigInt(1) << 31) - 1)
  val largest = Literal(BigInt(1) << 30)
  val second = 1000000000
}
