// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes}
import spinal.core._

/** Gaps in ns. `begins` forgets the connection's samples; `sampled` adds one, if it is of a class with space; then either an estimate, or how
  * far apart pairs are to leave.
  */
case class GapFitRequest() extends Bundle {
  /** The gap that a pair sent back to back comes out with, y0. */
  val firstGap = UInt(36 bits)
  /** The sample: as the pair left, x, and as its ACKs arrived, y. */
  val departureGap, arrivalGap = UInt(36 bits)
  val roundTrip = UInt(36 bits)
  val cwnd = UInt(32 bits) // bytes
  val segmentSize = UInt(16 bits)
  val begins, sampled, estimates = Bool()
}

/** `value`: the window of the estimated gap, bytes; or 2 R / cwnd in segments, ns. `holds`: there is an estimate; or the sample counts. */
case class GapFitResponse() extends Bundle {
  val value = UInt(36 bits)
  val holds = Bool()
}

/** Sums over the samples of a class, in units of 2^sh ns. */
case class GapSums(extra: Int = 0) extends Bundle {
  val count = UInt(5 + extra bits)
  val x, y = UInt(27 + extra bits)
  val xx, xy = UInt(50 + extra bits)

  def add(other: GapSums): Unit = {
    count := count + other.count.resized
    x := x + other.x.resized
    y := y + other.y.resized
    xx := xx + other.xx.resized
    xy := xy + other.xy.resized
  }
}

/** What rate does a path take, from pairs sent x apart that come out y apart? (Yu, thesis, 4.2 to 4.4.) A queue of service time s per
  * probe with a share l of cross traffic gives y = max(x, s + l x): the line through the samples below the knee meets y = x at
  * x = s / (1 - l), the smallest gap that fills nothing.
  *
  *  - Classes: x within 1/16 of y0 {1, 1.5, 2, 4}, by floor(32 x / y0); 16 samples in each at most, the rest does not count.
  *  - d0: the mean x of the first class with sum(y) <= 1.05 sum(x). Is it the first, d = y0.
  *  - Otherwise least squares over the classes up to it, all if there is none. With D = n sum(xx) - sum(x)^2 and
  *    E = D - (n sum(xy) - sum(x) sum(y)): slope < 1 means E > 0, and the lines meet at (sum(x) + (sum(y) - sum(x)) D / E) / n, D and E shifted
  *    right until D has 32 bits. d = that, at most d0, at least y0. E <= 0: no estimate.
  *  - The window is floor(R / d) segments.
  *
  * All gaps are shifted right by sh until y0 has 20 bits, y is at most 2^23 - 1 then. Quotients round down. The sums are in a memory
  * of four rows for each flow. No request takes 600 clocks.
  */
object GapFit extends Calculator {
  val name = "gapfit"
  val requestBits = 195
  val responseBits = 37
  def build(config: EngineSizes): CalculatorUnit = new GapFitUnit(config)

  /** y0 has as many bits at most when it is used; x and y up to 2^3 y0. */
  val firstBits = 20
  val sampleBits = 23
  val mostSamples = 16
  /** From and below, in y0 / 32: a sixteenth about each input gap. */
  val classes: Seq[(Int, Int)] = Seq((30, 34), (45, 51), (60, 68), (120, 136))
}
