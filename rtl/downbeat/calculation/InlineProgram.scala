// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.InlineResult
import spinal.core._

/** [[InlineMeasurement]] as a program. The golden model is sim/golden/calculation/inline_measurement.py. */
class InlineProgram extends RowProgram {
  // ---- what is kept of a connection

  private val Seq(segment, stride, training, streams, sent, done, position, broken, sound) = Seq.tabulate(9)(Row(_))
  /** The search range, and the width of a sub-range. */
  private val Seq(low, high, width) = Seq.tabulate(3)(i => Row(9 + i))
  private val Seq(rises, last, pairs, nextPair, results, nextResult, capacity, available) =
    Seq.tabulate(8)(i => Row(12 + i))
  /** Of the streams of the round. */
  private val trends = Row(24)
  private val values = Row(28)
  private val departures = Row(32)
  private val arrivals = Row(40)
  private val pairGaps = Row(48)
  private val resultRates = Row(64)
  private val mostPairs = 15
  private val mostResults = 16

  // ---- of this request

  private val Seq(opens, forgets, completes, missed, answered, begins, disturbed, departureGap, arrivalGap, segmentNow) =
    Seq.tabulate(10)(i => Row(InlineProgram.request + i))
  private val Seq(tells, valid, alternate, gap, step) = Seq.tabulate(5)(i => Row(90 + i))
  private val Seq(t, u, i, j, lower, upper, trend, value, transfer, estimate) = Seq.tabulate(10)(k => Row(96 + k))
  private val Seq(x1, y1, xx, xy, yy, behind, n, error, spread, common) = Seq.tabulate(10)(k => Row(106 + k))
  private val Seq(best, bestSpread, bestCommon, bestN, bestX, bestY, scale, scaled, px, py, magnitude) =
    Seq.tabulate(11)(k => Row(116 + k))

  private val most = Literal((BigInt(1) << 32) - 1)
  private val second = Literal(RateEstimate.second)
  private val gaps = InlineMeasurement.probes - 2
  private val loop, stepOn, judge, begin, stream, finish = new Label
  private def before(base: Row): Indexed = x(Row(base.index - 1))

  for (row <- Seq(tells, valid, alternate, gap, step)) move(row, 0)
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
  jumpIfLess(answered, 1)(finish)
  move(answered, 0)
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
      ifLess(mostPairs - 1, nextPair)(move(nextPair, 0))
      ifLess(pairs, mostPairs)(increment(pairs))
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
      atMost(high, most)
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
  median()
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
  ifLess(mostResults - 1, nextResult)(move(nextResult, 0))
  ifLess(results, mostResults)(increment(results))
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
    median()
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
  move(tells, 1)
  move(valid, 1)
  subtract(alternate, stride, 1)
  jump(loop)

  place(finish)
  for ((row, field) <- Seq(tells, valid, alternate, gap, step).zipWithIndex) respond(field, row)
  ifLessElse(0, tells) {
    respond(5, capacity)
    respond(6, available)
  } {
    respond(5, tells)
    respond(6, tells)
  }
  end()

  // ---- parts

  /** No more of this request is told. */
  private def settle(label: Label): Unit = {
    move(missed, 0)
    move(answered, 0)
    jump(label)
  }

  private def first(): Unit = {
    move(position, 1)
    for (row <- Seq(broken, rises, last)) move(row, 0)
  }

  private def swapStride(): Unit = subtract(stride, 3, stride)

  private def forget(): Unit = for (row <- Seq(results, nextResult)) move(row, 0)

  /** Bytes between two probes, times 1 s. */
  private def transferOf(): Unit = {
    multiply(transfer, segment, second)
    multiply(transfer, transfer, stride)
  }

  private def sumOf(base: Row, sum: Row): Unit = {
    move(sum, 0)
    count(i, gaps) {
      setX(i)
      add(sum, sum, x(base))
    }
  }

  private def gapOf(target: Row, rate: Row): Unit = {
    move(target, most)
    ifLess(0, rate) {
      multiply(target, segment, second)
      divide(target, target, rate)
      atMost(target, most)
    }
  }

  private def judgeTrend(): Unit = {
    sumOf(departures, t)
    sumOf(arrivals, u)
    subtract(u, u, t)
    shift(px, t, 5)
    ifLess(rises, 4)(unlessLess(px, u)(subtract(trend, trend, 1)))
    shift(px, t, 4)
    ifLess(4, rises)(move(trend, 1))
    ifLess(px, u)(move(trend, 1))
  }

  /** K of the median. */
  private def median(): Unit = {
    shift(u, pairs, 1)
    count(i, pairs) {
      setX(i)
      move(n, 0)
      count(j, pairs) {
        setY(j)
        ifLessElse(y(pairGaps), x(pairGaps))(increment(n)) {
          unlessLess(x(pairGaps), y(pairGaps))(ifLess(j, i)(increment(n)))
        }
      }
      unlessLess(n, u)(unlessLess(u, n)(move(t, x(pairGaps))))
    }
    multiply(estimate, segment, second)
    divide(estimate, estimate, t)
    atMost(estimate, most)
  }

  /** The sub-range in `bestN`, its score in `best`. */
  private def choose(): Unit = {
    move(t, 0)
    count(i, streams) {
      setX(i)
      add(t, t, x(trends))
    }
    move(best, 0)
    subtract(best, best, 10) // below any score
    move(u, 0)
    add(px, streams, 2)
    add(py, streams, 1)
    count(i, px) {
      move(n, 0)
      ifLess(0, i) {
        ifLess(i, py) {
          setX(i)
          move(n, before(trends))
        }
      }
      subtract(error, u, t)
      add(error, error, u)
      add(error, error, n)
      unlessLess(error, best) {
        move(best, error)
        move(bestN, i)
      }
      add(u, u, n)
    }
  }

  /** The mean of the results in `value`, and the range. */
  private def nextRange(): Unit = {
    move(t, 0)
    count(i, results) {
      setX(i)
      add(t, t, x(resultRates))
    }
    divide(value, t, results)
    divide(u, value, 10)
    ifLess(1, results) {
      move(xx, 0)
      count(i, results) {
        setX(i)
        subtract(t, x(resultRates), value)
        absolute(t)
        shift(t, t, 8)
        multiply(t, t, t)
        add(xx, xx, t)
      }
      multiply(xx, xx, 983) // 1.96^2 * 256
      subtract(t, results, 1)
      multiply(t, t, results)
      multiply(t, t, 256)
      divide(xx, xx, t)
      root(xx, t)
      multiply(t, t, 256)
      atLeast(u, t)
    }
    subtract(low, value, u)
    divide(t, value, 20)
    atLeast(low, t)
    add(high, value, u)
  }

  private def absolute(row: Row): Unit = ifLess(row, 0)(subtract(row, 0, row))

  /** floor(sqrt), of less than 2^54, by Newton's iteration from above. */
  private def root(square: Row, result: Row): Unit = {
    val again, ends = new Label
    move(result, 0)
    jumpIfLess(square, 1)(ends)
    move(px, Literal(1 << 27))
    place(again)
    move(result, px)
    divide(px, square, result)
    add(px, px, result)
    shift(px, px, 1)
    jumpIfLess(px, result)(again)
    place(ends)
  }

  /** The knee between `lower` and `upper`, in `value`. */
  private def knee(): Unit = {
    move(t, Literal((BigInt(1) << 32) - 1))
    count(i, gaps) {
      setX(i)
      atMost(t, x(departures))
      atMost(t, x(arrivals))
    }
    divide(scale, transfer, t)
    shift(scale, scale, InlineProgram.rateBits)
    increment(scale)
    divide(scaled, transfer, scale)
    for (row <- Seq(n, x1, y1, xx, xy, yy, behind, bestN)) move(row, 0)
    move(i, gaps)
    val next, none = new Label
    place(next)
    setX(i)
    divide(px, scaled, before(departures))
    divide(py, scaled, before(arrivals))
    increment(n)
    add(x1, x1, px)
    add(y1, y1, py)
    subtract(t, py, px)
    absolute(t)
    multiply(t, t, t)
    add(behind, behind, t)
    multiply(t, px, px)
    add(xx, xx, t)
    multiply(t, px, py)
    add(xy, xy, t)
    multiply(t, py, py)
    add(yy, yy, t)
    moments()
    subtract(i, i, 1)
    jumpIfLess(0, i)(next)

    add(value, lower, upper)
    shift(value, value, 1)
    jumpIfLess(bestN, 1)(none)
    subtract(spread, bestSpread, bestCommon)
    jumpIfLess(spread, 1)(none)
    subtract(u, bestY, bestX)
    move(t, u)
    absolute(t)
    multiply(t, t, bestSpread)
    divide(t, t, spread)
    ifLessElse(u, 0)(subtract(value, bestX, t))(add(value, bestX, t))
    atLeast(value, 0)
    atMost(value, Literal(1 << 24))
    divide(value, value, bestN)
    multiply(value, value, scale)
    atLeast(value, lower)
    atMost(value, upper)
    place(none)
  }

  /** The error of a split, from the sums behind it. */
  private def moments(): Unit = {
    multiply(spread, xx, n)
    multiply(t, x1, x1)
    subtract(spread, spread, t)
    ifLess(0, spread) {
      multiply(common, xy, n)
      multiply(t, x1, y1)
      subtract(common, common, t)
      move(magnitude, common)
      absolute(magnitude)
      multiply(t, magnitude, 1 << InlineProgram.slopeBits)
      divide(t, t, spread)
      multiply(t, magnitude, t)
      shift(t, t, InlineProgram.slopeBits)
      multiply(error, yy, n)
      multiply(u, y1, y1)
      subtract(error, error, u)
      subtract(error, error, t)
      divide(error, error, n)
      subtract(error, error, behind)
      move(t, 1)
      ifLess(0, bestN)(unlessLess(error, best)(move(t, 0)))
      ifLess(0, t) {
        for ((to, from) <- Seq(best -> error, bestSpread -> spread, bestCommon -> common, bestN -> n, bestX -> x1,
            bestY -> y1)) move(to, from)
      }
    }
  }
}

object InlineProgram {
  /** The first row of what a request tells. */
  val request = 80
  /** Of a scaled rate, and of a slope's fraction. */
  val rateBits = 17
  val slopeBits = 16
  def apply(): InlineProgram = new InlineProgram
  /** Widths of what it responds. */
  val fields: Seq[Int] = Seq(1, 1, 1, 32, 32, 32, 32)
}
