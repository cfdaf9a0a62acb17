// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

/** [[CubicGrowth]]. The golden model is sim/golden/calculation/cubic_growth.py. */
private class CubicGrowthProgram(program: RowProgram) {
  import CubicGrowthProgram._
  import program._
  private val Seq(root, reno, segmentSize, acked, roundTrip, tMinusK, wMax, cwnd, wEst) = takeAll(CubicRequest())
  private val Seq(t, high, low, product, unit) = Seq.fill(5)(row())
  private val response = row()

  def write(): Unit = {
    val growth = new Label
    move(unit, Literal(BigInt(1) << 31))
    multiply(unit, unit, 1 << 11) // 2^42
    jumpIfLess(root, 1)(growth)
    epochRoot()
    respond(0, response)
    end()
    place(growth)
    grow()
    respond(0, response)
    end()
  }

  /** `product` = floor(a b / 2^bits). */
  private def scaled(a: Row, b: Row, bits: Int): Unit = {
    split(a, high, low, bits)
    multiply(product, low, b)
    shift(product, product, bits)
    multiply(high, high, b)
    add(product, product, high)
  }

  // ---- growth

  private def grow(): Unit = {
    val Seq(perSegment, far, cube, rest, window, now, second) = Seq.fill(7)(row())
    val pass, both = new Label
    ifLess(Literal((BigInt(1) << 30) - 1), tMinusK)(subtract(tMinusK, tMinusK, Literal(BigInt(1) << 31)))
    shift(t, cwnd, 16)
    atMost(acked, t)
    multiply(perSegment, segmentSize, term)
    move(second, 0)

    // W_cubic at t - K, and then at t + RTT - K
    place(pass)
    move(far, tMinusK)
    absolute(far)
    atMost(far, Literal((BigInt(1) << 30) - 1))
    multiply(cube, far, far)
    shift(cube, cube, cubeShift)
    scaled(cube, far, cubeShift)
    split(product, cube, rest, termShift)
    scaled(perSegment, rest, termShift - 9)
    shift(product, product, 9)
    multiply(cube, cube, perSegment)
    add(product, product, cube)
    multiply(window, wMax, 1 << 16)
    ifLessElse(tMinusK, 0)(subtract(window, window, product))(add(window, window, product))
    atLeast(window, 0)
    multiply(t, unit, 1 << 4)
    subtract(t, t, 1)
    atMost(window, t)
    jumpIfLess(0, second)(both)
    move(now, window)
    move(second, 1)
    add(tMinusK, tMinusK, roundTrip)
    jump(pass)

    place(both)
    subtract(window, window, cwnd)
    atLeast(window, 0)
    shift(t, cwnd, 1)
    atMost(window, t)
    multiply(window, window, acked)
    overWindow(window)
    move(response, product)

    multiply(t, segmentSize, alpha)
    ifLess(0, reno)(multiply(t, segmentSize, 1 << alphaShift))
    multiply(t, t, acked)
    overWindow(t)
    split(product, high, low, estimateBits)
    add(wEst, wEst, low)
    ifLess(now, wEst)(add(low, low, Literal(BigInt(1) << estimateBits)))
    multiply(low, low, Literal(BigInt(1) << 31))
    multiply(low, low, 1 << 2)
    add(response, response, low)
  }

  /** `product` = floor(2^16 a / cwnd). */
  private def overWindow(a: Row): Unit = {
    divide(product, a, cwnd)
    multiply(high, cwnd, product)
    subtract(high, a, high)
    multiply(high, high, 1 << 16)
    divide(high, high, cwnd)
    multiply(product, product, 1 << 16)
    add(product, product, high)
  }

  // ---- K

  /** A bit of the root of three bits of the cube at a time (Warren, Hacker's Delight, 11-2). With root r of the bits so far the
    * next bit is one if the remainder is at least (2 r + 1)^3^ - (2 r)^3^ = 12 r^2^ + 6 r + 1.
    */
  private def epochRoot(): Unit = {
    val Seq(quotient, below, rest, remainder, needed, square, digits) = Seq.fill(7)(row())
    val next, isZero = new Label
    shift(t, cwnd, 16)
    subtract(below, wMax, t)
    atLeast(below, 0)

    // below inverse / segmentSize = 2^30 high + rest
    move(t, Literal(inverse >> 31))
    multiply(t, t, Literal(BigInt(1) << 31))
    add(t, t, Literal(inverse % (BigInt(1) << 31)))
    divide(quotient, t, segmentSize)
    multiply(low, quotient, segmentSize)
    subtract(t, t, low)
    multiply(t, t, below)
    divide(t, t, segmentSize)
    split(quotient, high, low, 30)
    multiply(low, low, below)
    add(low, low, t)
    multiply(high, high, below)
    split(low, t, rest, 30)
    add(high, high, t)
    multiply(t, unit, 1 << 3)
    unlessLess(high, t) {
      subtract(high, t, 1)
      move(rest, Literal((BigInt(1) << 30) - 1))
    }

    for (row <- Seq(response, remainder, square, digits)) move(row, 0)
    place(next)
    shift(t, high, 42)
    multiply(remainder, remainder, 8)
    add(remainder, remainder, t)
    multiply(t, unit, t)
    subtract(high, high, t)
    multiply(high, high, 8)
    add(needed, square, square)
    add(needed, needed, response)
    multiply(needed, needed, 6)
    increment(needed)
    multiply(square, square, 4)
    add(response, response, response)
    jumpIfLess(remainder, needed)(isZero)
    subtract(remainder, remainder, needed)
    add(square, square, response)
    add(square, square, response)
    increment(square)
    increment(response)
    place(isZero)
    increment(digits)
    jumpIfLess(digits, 15)(next)
    ifLess(digits, 16)(multiply(high, rest, 1 << 15))
    jumpIfLess(digits, 25)(next)
    multiply(response, response, 1 << 4)
  }
}

private object CubicGrowthProgram {
  /** C tick^3^ x 2^85^: of a segment into bytes with 16 fraction bits, 40 bits for the cuts and 29 of its own. */
  val term = 16615350
  val termShift = 29
  val cubeShift = 20
  /** 1 / (C tick^3^), for ticks of 16. */
  val inverse = BigInt(568434188608080L)
  val alphaShift = 16
  /** 9 / 17. */
  val alpha = 34696
  /** Bits of the growth of W_est. */
  val estimateBits = 30
}
