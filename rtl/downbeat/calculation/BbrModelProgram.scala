// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** [[BbrModel]]. The golden model is sim/golden/congestion/bbr/model.py. */
private class BbrModelProgram(program: RowProgram, state: Seq[Row])
    extends BbrRows(program, state) with BbrRecovery with BbrPath with BbrProbing {
  import BbrRows._
  import program._

  def write(): Unit = {
    constants()
    ifSet(opens)(open())
    count()
    updateBw()
    recognizeLoss()
    enterAndLeaveRecovery()
    ifSet(restarted)(restart())
    ifSet(newlyLost)(lose())
    sample()
    followRounds()
    aggregate()
    checkFullBw()
    checkStartup()
    checkDrain()
    advanceCycle()
    updateMinRtt()
    checkProbeRtt()
    ifSet(lossRoundStart) {
      move(bwLatest, rate)
      move(inflightLatest, sampled)
    }
    updateBw()
    pace()
    bdpOf(bw)
    grow()
    boundWindow()
    finish()
    for (routine <- routines) routine.write()
  }

  private def updateBw(): Unit = {
    move(bw, maxBw)
    atMost(bw, bwShortterm)
  }

  private def open(): Unit = {
    val initial = Seq(
      infinity -> Seq(bwShortterm, inflightLongterm, inflightShortterm),
      none -> Seq(limitedUntil, recover, undoState, probeRttLowStamp),
      noRtt -> Seq(minRtt, probeRttMinDelay),
      now -> Seq(extraStart, minRttStamp, probeRttMinStamp),
      cwnd -> Seq(window),
      delivered -> Seq(deliveredBefore),
      lost -> Seq(lostBefore))
    for ((value, rows) <- initial; row <- rows) move(row, value)
    // These begin with a state of their own.
    val later = Seq(rounds, probeUpUnit, probeUpAcked, probeUpAckedPerInc, cycleStamp, limitedFrom, probeRttRoundDone)
    for (row <- state.diff(initial.flatMap(_._2) ++ later)) move(row, 0)
    // The initial window in the first round trip, or in 1 ms (5.6.2)
    multiply(t, initialVolume, 1 << bandwidthBits)
    move(u, rtt)
    unlessLess(u, noRtt)(move(u, second / 1000))
    divide(paced, t, u)
    ifNegative(paced)(move(paced, infinity)) // a round trip of zero
    atMost(paced, infinity)
    multiply(paced, paced, 2836 * 100)
    divide(paced, paced, 99)
  }

  /** SetPacingRate (5.6.2), before the margin. Gains with 10 fraction bits: 2.77, 0.5, 0.9 and 1.25, otherwise 1. */
  private def pace(): Unit = {
    move(t, 1 << gainBits)
    for ((phase, gain) <- Seq(startup -> 2836, drain -> 512, down -> 922, up -> 1280)) ifPhase(phase)(move(t, gain))
    multiply(t, bw, t)
    ifSet(fullBwReached)(move(paced, 0))
    atLeast(paced, t)
  }

  /** SetCwnd (5.6.4.6). */
  private def grow(): Unit = {
    val grows, grown = new Label
    multiply(volume, bdp, 2)
    ifLess(up, phase)(shift(volume, bdp, 1))
    ifPhase(up) {
      shift(t, bdp, 2)
      add(volume, volume, t)
    }
    move(t, extraNow)
    atLeast(t, extraBefore)
    add(volume, volume, t)
    multiply(t, segmentSize, 2)
    add(u, fourSegments, t)
    atLeast(volume, u)
    ifPhase(up)(add(volume, volume, t))

    jumpIfLess(0, fullBwReached)(grows)
    jumpIfLess(window, volume)(grows)
    jumpIfLess(delivered, initialVolume)(grows)
    jump(grown)
    place(grows)
    add(window, window, acked)
    ifSet(fullBwReached)(atMost(window, volume))
    place(grown)
    atLeast(window, fourSegments)
    ifLess(up, phase) {
      probeRttCwnd()
      atMost(window, t)
    }
  }

  /** BoundCwndForModel (5.6.4.7). */
  private def boundWindow(): Unit = {
    val small, bounded = new Label
    move(bound, infinity)
    jumpIfLess(phase, down)(bounded)
    jumpIfLess(up, phase)(small)
    ifPhase(cruise)(jump(small))
    move(bound, inflightLongterm)
    jump(bounded)
    place(small)
    withHeadroom()
    place(bounded)
    atMost(bound, inflightShortterm)
    atLeast(bound, fourSegments)
    atMost(window, bound)
    atMost(window, largest)
  }

  /** The spacing 2^63^ / (paced 99 / 800), of 56 bits, cut to 25 significant ones. */
  private def finish(): Unit = {
    val narrows, last = new Label
    val (mantissa, exponent) = (t, u)
    multiply(t, paced, 99)
    divide(t, t, 800)
    atLeast(t, (1 << 7) + 1)
    multiply(u, twoTo48, 1 << 15)
    divide(mantissa, u, t)
    move(exponent, 0)
    place(narrows)
    jumpIfLess(mantissa, twoTo32)(last)
    shift(mantissa, mantissa, 8)
    add(exponent, exponent, 8)
    jump(narrows)
    place(last)
    for (bits <- Seq(4, 2, 1)) unlessLess(mantissa, 1 << 24 + bits) {
      shift(mantissa, mantissa, bits)
      add(exponent, exponent, bits)
    }
    multiply(exponent, exponent, 1 << 25)
    add(mantissa, mantissa, exponent)
    multiply(mantissa, mantissa, Literal(BigInt(1) << 31))
    add(mantissa, mantissa, window)
    respond(0, mantissa)
    end()
  }
}
