// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** [[GapFit]] in three rows of each class, which add up to those of several: 2^7^ sum(xx) + n, sum(xy),
  * 2^31^ sum(y) + sum(x). The golden model is sim/golden/calculation/gap_fit.py.
  */
private class GapFitProgram(program: RowProgram, state: Seq[Row]) {
  import GapFitProgram._
  import program._
  private val Seq(firstGap, departureGap, arrivalGap, roundTrip, cwnd, segmentSize, begins, sampled, estimates) =
    takeAll(GapFitRequest())
  private val totals = Seq.fill(rowsOfClass)(row())
  private val Seq(sumX, sumY, sumXx, n, d, e, excess, gap, bounded, index) = Seq.fill(10)(row())
  private val Seq(scaledTrip, unit, value, holds, t) = Seq.fill(5)(row())
  private val spread, estimate, share, none, response = new Label

  def write(): Unit = {
    move(unit, Literal(BigInt(1) << 31))
    multiply(unit, unit, 1 << 5) // 2^36
    move(holds, 0)
    move(scaledTrip, roundTrip)
    narrow(t, firstGap, firstBits)(firstGap, departureGap, arrivalGap, scaledTrip)
    jumpIfLess(0, estimates)(estimate)
    ifLess(0, begins)(for (row <- state) move(row, 0))
    ifLess(0, sampled)(sample())
    place(spread)
    multiply(value, roundTrip, segmentSize)
    multiply(value, value, 2)
    divide(value, value, cwnd)
    subtract(t, unit, 1)
    ifLess(value, 0)(move(value, t)) // cwnd = 0
    atMost(value, t)
    place(response)
    multiply(t, unit, holds)
    add(value, value, t)
    respond(0, value)
    end()

    place(estimate)
    addClasses()
    meet()
    place(share)
    GapWindow.compute(program, value, gap, scaledTrip, segmentSize)
    move(holds, 1)
    jump(response)
    place(none)
    move(value, 0)
    jump(response)
  }

  private def sample(): Unit = {
    val found = new Label
    multiply(t, departureGap, 1 << 5)
    divide(t, t, firstGap) // without a first gap below all classes
    for (((from, below), number) <- classes.zipWithIndex) ifLess(t, below) {
      jumpIfLess(t, from)(spread)
      setX(rowsOfClass * number)
      jump(found)
    }
    jump(spread)
    place(found)
    split(x(state(0)), sumXx, n, countBits)
    unlessLess(n, maxSamples)(jump(spread))
    atMost(arrivalGap, (1 << sampleBits) - 1)
    multiply(t, departureGap, departureGap)
    multiply(t, t, 1 << countBits)
    add(t, t, 1)
    add(x(state(0)), x(state(0)), t)
    multiply(t, departureGap, arrivalGap)
    add(x(state(1)), x(state(1)), t)
    multiply(t, arrivalGap, Literal(BigInt(1) << sumBits))
    add(t, t, departureGap)
    add(x(state(2)), x(state(2)), t)
    move(holds, 1)
  }

  /** Up to the first class within the knee. */
  private def addClasses(): Unit = {
    val next, beyond, all = new Label
    for (row <- totals :+ bounded :+ index) move(row, 0)
    place(next)
    setX(index)
    for ((total, kept) <- totals.zip(state)) add(total, total, x(kept))
    split(x(state(0)), sumXx, n, countBits)
    split(x(state(2)), sumY, sumX, sumBits)
    add(index, index, rowsOfClass)
    jumpIfLess(n, 1)(beyond)
    subtract(t, sumY, sumX)
    multiply(t, t, 20)
    jumpIfLess(sumX, t)(beyond)
    move(gap, firstGap)
    jumpIfLess(index, rowsOfClass + 1)(share)
    divide(gap, sumX, n)
    move(bounded, 1)
    jump(all)
    place(beyond)
    jumpIfLess(index, state.size)(next)
    place(all)
    split(totals(0), sumXx, n, countBits)
    split(totals(2), sumY, sumX, sumBits)
  }

  /** The fitted line and y = x, from the sums over the classes. */
  private def meet(): Unit = {
    multiply(d, sumXx, n)
    multiply(t, sumX, sumX)
    subtract(d, d, t)
    multiply(e, sumX, sumY)
    add(e, d, e)
    multiply(t, totals(1), n)
    subtract(e, e, t)
    jumpIfLess(e, 1)(none)
    for (step <- Seq(8, 1)) narrow(t, d, dBits + step - 1, step)(d, e)
    jumpIfLess(e, 1)(none)
    subtract(excess, sumY, sumX)
    move(t, excess)
    absolute(t)
    multiply(d, d, t)
    divide(d, d, e)
    ifLessElse(excess, 0)(subtract(d, sumX, d))(add(d, sumX, d))
    atLeast(d, 0)
    divide(d, d, n)
    ifLess(0, bounded)(atMost(d, gap))
    move(gap, d)
    atMost(gap, unit) // longer than any round trip
    atLeast(gap, firstGap)
  }
}

private object GapFitProgram {
  val rowsOfClass = 3
  /** y0 has as many bits at most when it is used; x and y up to 2^3^ y0. */
  val firstBits = 20
  val sampleBits = 23
  val maxSamples = 16
  /** Bits of n over all classes, and of a sum of x or y with space for its carry. */
  val countBits = 7
  val sumBits = 31
  val dBits = 32
  /** From and below, in y0 / 32: a sixteenth about each input gap. */
  val classes: Seq[(Int, Int)] = Seq((30, 34), (45, 51), (60, 68), (120, 136))
}
