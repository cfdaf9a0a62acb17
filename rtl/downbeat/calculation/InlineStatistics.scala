// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** The rows of [[InlineProgram]], and what it computes with them. */
abstract class InlineStatistics extends RowProgram {
  // ---- state of a connection

  protected val Seq(segment, stride, training, streams, sent, done, position, broken, sound) = Seq.tabulate(9)(Row(_))
  /** The search range, and the width of a sub-range. */
  protected val Seq(low, high, width) = Seq.tabulate(3)(i => Row(9 + i))
  protected val Seq(rises, last, pairs, nextPair, results, nextResult, capacity, available) =
    Seq.tabulate(8)(i => Row(12 + i))
  /** First rows of the values of each stream of the round. */
  protected val trends = Row(24)
  protected val values = Row(28)
  protected val departures = Row(32)
  protected val arrivals = Row(40)
  protected val pairGaps = Row(48)
  protected val resultRates = Row(64)
  protected val maxPairs = 15
  protected val maxResults = 16
  require(resultRates.index + maxResults <= InlineProgram.kept, "what is behind the kept rows is not the connection's")

  // ---- fields of this request

  protected val request: Seq[Row] = Seq.tabulate(10)(i => Row(InlineProgram.kept + i))
  protected val Seq(opens, forgets, completes, missed, acknowledged, begins, disturbed, departureGap, arrivalGap,
    segmentNow) = request
  protected val Seq(changed, valid, alternate, gap, step) = Seq.tabulate(5)(i => Row(90 + i))
  protected val Seq(t, u, i, j, lower, upper, trend, value, transfer, estimate) = Seq.tabulate(10)(k => Row(96 + k))
  protected val Seq(x1, y1, xx, xy, yy, behind, n, error, spread, common) = Seq.tabulate(10)(k => Row(106 + k))
  protected val Seq(best, bestSpread, bestCommon, bestN, bestX, bestY, scale, scaled, px, py, magnitude) =
    Seq.tabulate(11)(k => Row(116 + k))

  protected val maximum = Literal((BigInt(1) << 32) - 1)
  protected val second = Literal(RateEstimate.second)
  protected val gaps = InlineMeasurement.probes - 2
  protected def before(base: Row): Indexed = x(Row(base.index - 1))

  // ---- parts

  protected def first(): Unit = {
    move(position, 1)
    for (row <- Seq(broken, rises, last)) move(row, 0)
  }

  protected def swapStride(): Unit = subtract(stride, 3, stride)

  protected def forget(): Unit = for (row <- Seq(results, nextResult)) move(row, 0)

  /** Bytes between two probes, times 1 s. */
  protected def transferOf(): Unit = {
    multiply(transfer, segment, second)
    multiply(transfer, transfer, stride)
  }

  protected def sumOf(base: Row, sum: Row): Unit = {
    move(sum, 0)
    count(i, gaps) {
      setX(i)
      add(sum, sum, x(base))
    }
  }

  protected def gapOf(target: Row, rate: Row): Unit = {
    move(target, maximum)
    ifLess(0, rate) {
      multiply(target, segment, second)
      divide(target, target, rate)
      atMost(target, maximum)
    }
  }

  protected def judgeTrend(): Unit = {
    sumOf(departures, t)
    sumOf(arrivals, u)
    subtract(u, u, t)
    shift(px, t, 5)
    ifLess(rises, 4)(unlessLess(px, u)(subtract(trend, trend, 1)))
    divide(px, t, 10)
    ifLess(4, rises)(move(trend, 1))
    ifLess(px, u)(move(trend, 1))
  }

  /** K of the lower quartile. */
  protected def quartile(): Unit = {
    shift(u, pairs, 2)
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
    atMost(estimate, maximum)
  }

  /** The sub-range in `bestN`, its score in `best`. */
  protected def choose(): Unit = {
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
  protected def nextRange(): Unit = {
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

  /** floor(sqrt), of less than 2^54, by Newton's iteration from above. */
  protected def root(square: Row, result: Row): Unit = {
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
  protected def knee(): Unit = {
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
  protected def moments(): Unit = {
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
