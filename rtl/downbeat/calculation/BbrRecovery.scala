// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** The part of [[BbrModelProgram]] for recovery, restarts from idle, and what a loss says about the path. */
private trait BbrRecovery extends BbrRows {
  import BbrRows._
  import program._
  private val change = row()
  /** SaveStateUponLoss (5.5.11.1). */
  private val save = new Routine({
    saveCwnd()
    move(undoState, none)
    for ((saved, row) <- undo) move(saved, row)
  })
  private def undo: Seq[(Row, Row)] =
    Seq(undoBw -> bwShortterm, undoShortterm -> inflightShortterm, undoLongterm -> inflightLongterm)
  override protected def routines: Seq[Routine] = super.routines :+ save

  protected def count(): Unit = {
    growth(acked, delivered, deliveredBefore)
    growth(newlyLost, lost, lostBefore)
    growth(sampled, delivered, priorDelivered)
    growth(sampleLost, lost, priorLost)
    move(deliveredBefore, delivered)
    move(lostBefore, lost)
  }

  /** IsInflightTooHigh (5.5.10.2): losses above 2 %, or any without SACK. */
  protected def recognizeLoss(): Unit = {
    move(tooHigh, 0)
    multiply(t, sampleLost, 50)
    ifLess(txInFlight, t)(move(tooHigh, 1))
    unlessSet(selective)(ifSet(sampleLost)(move(tooHigh, 1)))
  }

  /** Recovery by duplicate ACKs is the stage's. That of a timeout ends when a window is delivered. */
  protected def enterAndLeaveRecovery(): Unit = {
    ifSet(undone)(takeBack())
    unlessLess(recover, 0)(ifReached(delivered, recover)(move(recover, none)))
    ifSet(timedOut) {
      add(recover, delivered, window)
      wrapTotal(recover)
    }
    unlessLess(recover, 0)(move(recovering, 1))
    // Below zero recovery ends, above it begins.
    subtract(change, recovering, inRecovery)
    add(change, change, timedOut)
    ifLess(0, change)(save())
    move(inRecovery, recovering)
    move(window, cwnd)
    ifNegative(change)(atLeast(window, priorCwnd))
  }

  /** HandleSpuriousLossDetection (5.5.11.2). */
  private def takeBack(): Unit = {
    val after = new Label
    for (row <- Seq(lossEvents, fullBw, fullBwCount)) move(row, 0)
    for ((saved, row) <- undo) atLeast(row, saved)
    jumpIfLess(undoState, 0)(after)
    ifLessElse(0, undoState)(ifLess(phase, up)(startRefill()))(ifLess(0, phase) {
      move(fullBwReached, 0)
      ifLess(phase, probeRtt)(move(phase, startup))
    })
    move(undoState, none)
    place(after)
  }

  /** HandleRestartFromIdle (5.4.1). */
  protected def restart(): Unit = {
    move(idleRestart, 1)
    move(extraDelivered, 0)
    move(extraStart, now)
    ifLess(up, phase)(checkProbeRttDone())
  }

  /** HandleLostPacket (5.5.10.2), once for all that was lost. */
  protected def lose(): Unit = {
    unlessSet(lossEvents) {
      move(lossRoundDelivered, delivered)
      save()
    }
    increment(lossEvents)
    atMost(lossEvents, 15)
    ifSet(bwProbeSample)(ifSet(tooHigh)(endProbe()))
  }

  private def endProbe(): Unit = {
    // InflightAtLoss: prev + (2 % prev - lostPrev) / 98 %, which is (prev - lostPrev) / 98 %
    subtract(volume, txInFlight, sampleLost)
    atLeast(volume, 0)
    multiply(volume, volume, 50)
    divide(volume, volume, 49)
    move(prevProbe, tooHighProbe)
    move(bwProbeSample, 0)
    unlessSet(appLimited) {
      target()
      scale(bdp, beta)
      atLeast(volume, bdp)
      move(inflightLongterm, volume)
    }
    ifPhase(up) {
      move(undoState, up)
      startDown()
    }
  }
}
