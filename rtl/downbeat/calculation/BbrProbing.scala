// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** The part of [[BbrModelProgram]] that has ProbeBW (5.3.3) and ProbeRTT (5.3.4). */
private trait BbrProbing extends BbrRows {
  import BbrRows._
  import program._
  private val longest = Literal(BigInt(4) * second)
  /** RaiseInflightLongtermSlope. */
  protected val raiseSlope = new Routine({
    divide(probeUpAckedPerInc, window, probeUpUnit)
    atLeast(probeUpAckedPerInc, segmentSize)
    add(probeUpUnit, probeUpUnit, probeUpUnit)
    atMost(probeUpUnit, 1 << 30)
  })
  override protected def routines: Seq[Routine] = super.routines :+ raiseSlope

  /** UpdateProbeBWCyclePhase. */
  protected def advanceCycle(): Unit = {
    val probe, refills, goesUp, ends, after = new Label
    jumpIfLess(fullBwReached, 1)(after)
    adaptLongterm(after)
    jumpIfLess(phase, down)(after)
    jumpIfLess(up, phase)(after)
    jumpIfLess(refill, phase)(goesUp)
    jumpIfLess(cruise, phase)(refills)
    ifTimeToProbe(jump(probe))
    jumpIfLess(down, phase)(after)

    // IsTimeToCruise
    withHeadroom()
    inflight(maxBw)
    atMost(bound, t)
    jumpIfLess(bound, inFlight)(after)
    move(phase, cruise)
    jump(after)

    place(probe)
    startRefill()
    jump(after)

    place(refills)
    jumpIfLess(roundStart, 1)(after)
    move(bwProbeSample, 1)
    resetFullBw()
    move(phase, up)
    raiseSlope()
    jump(after)

    // IsTimeToGoDown; the precaution is by the flight before the ACK
    place(goesUp)
    ifSet(prevProbe) {
      add(t, inFlight, acked)
      unlessLess(t, inflightLongterm) {
        move(prevProbe, precautionaryProbe)
        jump(ends)
      }
    }
    ifSet(cwndLimited)(unlessLess(window, inflightLongterm) {
      resetFullBw()
      jump(after)
    })
    jumpIfLess(fullBwCount, 3)(after)
    move(prevProbe, 0)
    place(ends)
    startDown()
    place(after)
  }

  /** AdaptLongTermModel. Another probe follows a precaution at once. */
  private def adaptLongterm(after: Label): Unit = {
    val adapts, adapted = new Label
    ifSet(stopping)(ifSet(roundStart) {
      move(bwProbeSample, 0)
      move(stopping, 0)
      jumpIfLess(phase, down)(adapts)
      jumpIfLess(up, phase)(adapts)
      unlessSet(limited) {
        move(maxBwBefore, maxBwNow)
        move(maxBwNow, 0)
      }
      ifLess(tooHighProbe, prevProbe) {
        startRefill()
        jump(after)
      }
    })
    place(adapts)
    jumpIfLess(0, tooHigh)(adapted)
    unlessLess(inflightLongterm, infinity)(jump(adapted))
    atLeast(inflightLongterm, txInFlight)
    ifPhase(up)(ifSet(cwndLimited)(unlessLess(window, inflightLongterm)(probeUpward())))
    place(adapted)
  }

  /** ProbeInflightLongtermUpward. */
  private def probeUpward(): Unit = {
    add(probeUpAcked, probeUpAcked, acked)
    divide(t, probeUpAcked, probeUpAckedPerInc)
    multiply(u, probeUpAckedPerInc, t)
    subtract(probeUpAcked, probeUpAcked, u)
    multiply(t, segmentSize, t)
    add(inflightLongterm, inflightLongterm, t)
    atMost(inflightLongterm, Literal(infinity.value - 1))
    ifSet(roundStart)(raiseSlope())
  }

  /** IsTimeToProbeBW: in as many rounds as the target has segments, 63 at most, or in a random time from 2 s on. */
  private def ifTimeToProbe(body: => Unit): Unit = {
    val probes, after = new Label
    jumpIfLess(62, rounds)(probes)
    target()
    multiply(t, rounds, segmentSize)
    unlessLess(t, bdp)(jump(probes))
    split(cycleStamp, u, volume, 30)
    add(volume, volume, 2 * second)
    since(cycleStamp)
    jumpUnlessLess(volume, t)(after)
    place(probes)
    body
    place(after)
  }

  /** UpdateMinRTT (5.3.4.3): the minimum of 5 s, and that of 10 s. */
  protected def updateMinRtt(): Unit = {
    val updates, after = new Label
    since(probeRttMinStamp)
    subtract(t, t, longest)
    move(expired, 0)
    move(u, probeRttMinDelay)
    ifLess(second, t) {
      move(expired, 1)
      move(u, noRtt)
    }
    ifLess(rtt, u) {
      move(probeRttMinDelay, rtt)
      move(probeRttMinStamp, now)
    }
    jumpIfLess(probeRttMinDelay, minRtt)(updates)
    since(minRttStamp)
    subtract(t, t, longest)
    subtract(t, t, longest)
    jumpUnlessLess(2 * second, t)(after)
    place(updates)
    move(minRtt, probeRttMinDelay)
    move(minRttStamp, probeRttMinStamp)
    place(after)
  }

  /** CheckProbeRTT. */
  protected def checkProbeRtt(): Unit = {
    val within, after = new Label
    jumpIfLess(up, phase)(within)
    jumpIfLess(expired, 1)(after)
    jumpIfLess(0, idleRestart)(after)
    saveCwnd()
    move(phase, probeRtt)
    move(probeRttLowStamp, none)
    move(stopping, 1)
    move(nextRoundDelivered, delivered)
    move(limitedFrom, delivered)
    place(within)
    add(limitedUntil, delivered, inFlight)
    wrapTotal(limitedUntil)
    ifLessElse(probeRttLowStamp, 0) {
      bdpOf(bw)
      probeRttCwnd()
      unlessLess(t, inFlight) {
        move(probeRttLowStamp, now)
        move(probeRttRoundDone, 0)
        move(nextRoundDelivered, delivered)
      }
    } {
      atLeast(probeRttRoundDone, roundStart)
      ifSet(probeRttRoundDone)(checkProbeRttDone())
    }
    place(after)
    ifSet(sampled)(move(idleRestart, 0))
  }
}
