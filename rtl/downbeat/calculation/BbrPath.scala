// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** The part of [[BbrModelProgram]] that has the model of the path, STARTUP and DRAIN. */
private trait BbrPath extends BbrRows {
  import BbrRows._
  import program._

  protected def sample(): Unit = {
    move(rate, 0)
    ifSet(interval) {
      multiply(rate, sampled, 1 << bandwidthBits)
      divide(rate, rate, interval)
      atMost(rate, infinity)
    }
    move(limited, appLimited)
    unlessLess(limitedUntil, 0) {
      val within, after = new Label
      ifReached(limitedUntil, priorDelivered)(jump(within))
      move(limitedUntil, none)
      jump(after)
      place(within)
      ifReached(priorDelivered, limitedFrom)(move(limited, 1))
      place(after)
    }
  }

  /** UpdateLatestDeliverySignals, UpdateCongestionSignals (5.5.10.3), UpdateRound (5.5.1) and UpdateMaxBw (5.5.5). */
  protected def followRounds(): Unit = {
    val filtered = new Label
    atLeast(bwLatest, rate)
    atLeast(inflightLatest, sampled)
    move(lossRoundStart, 0)
    ifReached(priorDelivered, lossRoundDelivered) {
      move(lossRoundStart, 1)
      move(lossRoundDelivered, delivered)
    }
    move(roundStart, 0)
    ifReached(priorDelivered, nextRoundDelivered) {
      move(roundStart, 1)
      move(nextRoundDelivered, delivered)
      increment(rounds)
      atMost(rounds, 63)
      increment(extraRounds)
    }
    jumpIfLess(rate, 1)(filtered)
    ifSet(limited)(jumpIfLess(rate, maxBw)(filtered))
    atLeast(maxBwNow, rate)
    move(maxBw, maxBwNow)
    atLeast(maxBw, maxBwBefore)
    place(filtered)
    ifSet(lossRoundStart) {
      ifSet(lossEvents)(adaptShortterm())
    }
  }

  /** AdaptLowerBoundsFromCongestion, but not while the path is probed for bandwidth. */
  private def adaptShortterm(): Unit = {
    val adapts, probing = new Label
    jumpIfLess(phase, drain)(probing)
    jumpIfLess(phase, refill)(adapts)
    jumpIfLess(phase, probeRtt)(probing)
    place(adapts)
    for ((row, first, latest) <- Seq((bwShortterm, maxBw, bwLatest), (inflightShortterm, window, inflightLatest))) {
      unlessLess(row, infinity)(move(row, first))
      scale(row, beta)
      atLeast(row, latest)
    }
    place(probing)
  }

  /** UpdateACKAggregation (5.5.9): the largest of this and the last 5 rounds, in STARTUP of this and the last one. */
  protected def aggregate(): Unit = {
    val expected = volume
    since(extraStart)
    atMost(t, Literal((BigInt(1) << 32) - 1))
    multiply(expected, bw, t)
    shift(expected, expected, bandwidthBits)
    unlessLess(expected, extraDelivered) {
      move(extraDelivered, 0)
      move(extraStart, now)
      move(expected, 0)
    }
    add(extraDelivered, extraDelivered, acked)
    atMost(extraDelivered, infinity)
    subtract(t, extraDelivered, expected)
    atMost(t, window)
    multiply(u, fullBwReached, 4)
    ifLess(u, extraRounds) {
      move(extraBefore, extraNow)
      move(extraNow, 0)
      move(extraRounds, 0)
    }
    atLeast(extraNow, t)
  }

  /** CheckFullBWReached (5.3.1.2). */
  protected def checkFullBw(): Unit = {
    val after = new Label
    jumpIfLess(2, fullBwCount)(after)
    jumpIfLess(roundStart, 1)(after)
    jumpIfLess(0, limited)(after)
    multiply(t, rate, 4)
    multiply(u, fullBw, 5)
    ifLessElse(t, u) {
      increment(fullBwCount)
      ifLess(2, fullBwCount)(move(fullBwReached, 1))
    }(resetFullBw())
    place(after)
  }

  /** CheckStartupHighLoss (5.3.1.3): ranges are lost with 6 requests of a round. */
  protected def checkStartup(): Unit = {
    val after = new Label
    jumpIfLess(startup, phase)(after)
    jumpIfLess(0, fullBwReached)(after)
    jumpIfLess(inRecovery, 1)(after)
    jumpIfLess(tooHigh, 1)(after)
    jumpIfLess(lossEvents, 1)(after)
    ifSet(selective) {
      jumpIfLess(lossRoundStart, 1)(after)
      jumpIfLess(lossEvents, 6)(after)
    }
    move(undoState, startup)
    move(fullBwReached, 1)
    bdpOf(bw)
    move(inflightLongterm, bdp)
    atLeast(inflightLongterm, inflightLatest)
    place(after)
    ifSet(lossRoundStart)(move(lossEvents, 0))
  }

  /** CheckDrainDone (5.3.2). */
  protected def checkDrain(): Unit = {
    ifPhase(startup)(ifSet(fullBwReached) {
      move(phase, drain)
      move(rounds, 0)
    })
    ifPhase(drain) {
      val drained, after = new Label
      jumpIfLess(3, rounds)(drained)
      inflight(bw)
      jumpIfLess(t, inFlight)(after)
      place(drained)
      startDown()
      place(after)
    }
  }
}
