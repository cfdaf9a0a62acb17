// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** [[InlineMeasurement]] as a program. The golden model is sim/golden/calculation/inline_measurement.py. */
class InlineProgram extends InlineStatistics {
  private val loop, stepOn, judge, begin, stream, finish = new Label

  takeAll(InlineRequest(), request)
  for (row <- Seq(changed, valid, alternate, gap, step)) move(row, 0)
  ifLess(0, opens) {
    move(stride, 1)
    move(training, 1)
    for (row <- Seq(pairs, nextPair, results, nextResult, capacity, available, low, high, width)) move(row, 0)
    settle(begin)
  }
  ifLess(0, forgets)(settle(begin))
  ifLess(0, completes) {
    increment(sent)
    ifLess(sent, streams)(settle(stream))
    settle(finish)
  }

  // ---- answers

  place(loop)
  ifLess(0, missed) {
    subtract(missed, missed, 1)
    ifLessElse(position, 1)(first())(increment(position))
    move(broken, 1)
    jump(stepOn)
  }
  jumpIfLess(acknowledged, 1)(finish)
  move(acknowledged, 0)
  ifLess(0, begins) {
    first()
    jump(loop)
  }
  jumpIfLess(position, 1)(loop)
  ifLess(departureGap, 1)(move(disturbed, 1))
  ifLess(arrivalGap, 2)(move(disturbed, 1))
  ifLess(0, disturbed)(move(broken, 1))
  ifLessElse(position, gaps + 1) {
    setX(position)
    move(before(departures), departureGap)
    move(before(arrivals), arrivalGap)
    shift(t, departureGap, 8)
    subtract(u, arrivalGap, departureGap)
    ifLess(t, u)(increment(rises))
  }(move(last, arrivalGap))
  ifLess(disturbed, 1) {
    move(t, training)
    ifLess(gaps, position)(move(t, 1))
    ifLess(0, t) {
      setX(nextPair)
      divide(x(pairGaps), arrivalGap, stride)
      increment(nextPair)
      ifLess(maxPairs - 1, nextPair)(move(nextPair, 0))
      ifLess(pairs, maxPairs)(increment(pairs))
    }
  }
  increment(position)

  place(stepOn)
  jumpIfLess(position, InlineMeasurement.probes)(loop)
  move(position, 0)
  ifLess(0, training) {
    ifLessElse(0, broken)(swapStride()) {
      sumOf(arrivals, t)
      add(t, t, last)
      transferOf()
      multiply(u, transfer, InlineMeasurement.probes - 1)
      divide(high, u, t)
      atMost(high, maximum)
      shift(low, high, 1)
      move(training, 0)
    }
    jump(begin)
  }
  move(trend, 0)
  move(value, 0)
  ifLess(broken, 1) {
    increment(sound)
    multiply(t, width, done)
    subtract(upper, high, t)
    subtract(lower, upper, width)
    transferOf()
    knee()
    judgeTrend()
  }
  setX(done)
  move(x(trends), trend)
  move(x(values), value)
  increment(done)
  jumpIfLess(done, streams)(loop)

  // ---- the end of a round

  place(judge)
  ifLess(sound, 1) {
    swapStride()
    jump(begin)
  }
  choose()
  subtract(u, high, low) // the extent
  add(t, streams, 1)
  shift(t, t, 1)
  ifLess(best, t) {
    shift(u, u, 2)
    subtract(low, low, u)
    divide(t, high, 20)
    atLeast(low, t)
    add(high, high, u)
    jump(begin)
  }
  quartile()
  subtract(u, high, low)
  ifLess(streams, bestN) {
    forget()
    move(capacity, estimate)
    move(available, low)
    atMost(available, estimate)
    shift(t, u, 2)
    add(upper, low, t)
    shift(u, u, 1)
    subtract(low, low, u)
    divide(t, high, 10)
    atLeast(low, t)
    move(high, upper)
    jump(begin)
  }
  ifLessElse(bestN, 1) {
    ifLess(high, estimate) {
      forget()
      shift(u, u, 1)
      add(high, high, u)
      jump(begin)
    }
    move(value, estimate)
  } {
    setX(bestN)
    move(value, before(values))
  }
  setX(nextResult)
  move(x(resultRates), value)
  increment(nextResult)
  ifLess(maxResults - 1, nextResult)(move(nextResult, 0))
  ifLess(results, maxResults)(increment(results))
  nextRange()
  move(capacity, estimate)
  move(available, value)
  atMost(available, estimate)

  // ---- the next round, the next stream

  place(begin)
  move(segment, segmentNow)
  move(streams, 1)
  for (row <- Seq(sent, done, position, sound)) move(row, 0)
  ifLess(training, 1) {
    quartile()
    atMost(high, estimate)
    divide(t, high, 10)
    subtract(t, high, t)
    atMost(low, t)
    move(streams, 4)
    multiply(t, high, 5)
    multiply(u, low, 6)
    ifLess(t, u)(move(streams, 3))
    multiply(t, high, 20)
    multiply(u, low, 23)
    ifLess(t, u)(move(streams, 2))
    subtract(t, high, low)
    divide(width, t, streams)
  }
  place(stream)
  ifLess(training, 1) {
    add(t, sent, 1)
    multiply(t, width, t)
    subtract(lower, high, t)
    gapOf(gap, lower)
    multiply(t, width, gaps - 1)
    divide(t, t, gaps)
    add(t, lower, t)
    gapOf(u, t)
    subtract(u, gap, u)
    divide(step, u, gaps - 1)
  }
  move(changed, 1)
  move(valid, 1)
  subtract(alternate, stride, 1)
  jump(loop)

  place(finish)
  for ((row, field) <- Seq(changed, valid, alternate, gap, step).zipWithIndex) respond(field, row)
  ifLessElse(0, changed) {
    respond(5, capacity)
    respond(6, available)
  } {
    respond(5, changed)
    respond(6, changed)
  }
  end()

  /** The rest of this request is discarded. */
  private def settle(label: Label): Unit = {
    move(missed, 0)
    move(acknowledged, 0)
    jump(label)
  }
}

object InlineProgram {
  /** Rows of a connection. */
  val kept = 80
  /** Fraction bits of a scaled rate, and of a slope. */
  val rateBits = 17
  val slopeBits = 16
  def apply(): InlineProgram = new InlineProgram
  /** Widths of what it responds. */
  val fields: Seq[Int] = Seq(1, 1, 1, 32, 32, 32, 32)
}
