// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** A sample to add, and what to compute: the estimate, or how far apart pairs leave. Gaps are ns. */
case class GapFitRequest() extends Bundle {
  /** y0: the gap with which a pair sent back to back comes out. */
  val firstGap = UInt(36 bits)
  /** The sample: x as the pair left, and y as its ACKs arrived. */
  val departureGap, arrivalGap = UInt(36 bits)
  val roundTrip = UInt(36 bits)
  val cwnd = UInt(32 bits) // bytes
  val segmentSize = UInt(16 bits)
  /** The connection's first request: its flow's samples are forgotten. */
  val begins = Bool()
  /** The sample is added, if its class has space. */
  val sampled = Bool()
  val estimates = Bool()
}

case class GapFitResponse() extends Bundle {
  /** The window of the estimated gap, bytes; or the spacing of pairs, 2 R / cwnd with cwnd in segments, ns. */
  val value = UInt(36 bits)
  /** There is an estimate; or the sample counts. */
  val holds = Bool()
}

/** The rate of a path, from pairs sent x apart that come out y apart (Yu, thesis, 4.2 to 4.4). A queue of service time
  * s per probe with a share l of cross traffic gives y = max(x, s + l x). The line through the samples below the knee
  * meets y = x at x = s / (1 - l), the smallest gap that fills nothing.
  *
  *  - Classes: x within 1/16 of y0 {1, 1.5, 2, 4}, by floor(32 x / y0). At most 16 samples of a class count.
  *  - d0 is the mean x of the first class with sum(y) <= 1.05 sum(x). If that is class 0, d = y0.
  *  - Otherwise least squares over the classes up to it, or over all if there is none. With D = n sum(xx) - sum(x)^2
  *    and E = D - (n sum(xy) - sum(x) sum(y)), a slope < 1 means E > 0, and the lines meet at
  *    (sum(x) + (sum(y) - sum(x)) D / E) / n. D and E are shifted right until D has 32 bits. d is that gap, at most d0,
  *    at least y0. If E <= 0 there is no estimate.
  *  - The window is floor(R / d) segments.
  *
  * All gaps are shifted right by sh until y0 has 20 bits; then y is at most 2^23 - 1. Quotients round down. A sample takes
  * about 900 clocks, an estimate up to 3,500.
  */
object GapFit extends ProgrammedCalculator {
  val name = "gapfit"
  val requestBits = 195
  val responseBits = 37
  override val kept: Int = GapFitProgram.rowsOfClass * GapFitProgram.classes.size
  def write(program: RowProgram, state: Seq[Row]): Unit = new GapFitProgram(program, state).write()
}
