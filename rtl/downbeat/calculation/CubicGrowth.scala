// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** A request for K or for the growth of the window. Time is in ticks of 1,024 ns. */
case class CubicRequest() extends Bundle {
  /** For K; otherwise for the growth. */
  val root = Bool()
  /** W_est has reached cwnd_prior, the window before the loss: from now on it grows as Reno's. */
  val reno = Bool()
  val segmentSize = UInt(16 bits)
  /** Acknowledged bytes. */
  val acked = UInt(18 bits)
  val roundTrip = UInt(26 bits)
  /** t - K. */
  val tMinusK = SInt(31 bits)
  /** W_max, bytes. */
  val wMax = UInt(30 bits)
  /** cwnd and W_est, bytes with 16 fraction bits. */
  val cwnd, wEst = UInt(46 bits)
}

/** Bytes with 16 fraction bits. With `root` the whole response is K, ticks. */
case class CubicResponse() extends Bundle {
  /** Growth of cwnd. */
  val increase = UInt(33 bits)
  /** Growth of W_est. */
  val wEstIncrease = UInt(30 bits)
  /** W_cubic(t) < W_est with that: the Reno-friendly region. */
  val friendly = Bool()
}

/** CUBIC's window (RFC 9438): C = 0.4, beta = 0.7, in fixed point.
  *
  *   W_cubic(t) = C (t - K)^3 + W_max segments (equation 1), between 0 and 1 GiB
  *   target     = W_cubic(t + RTT), between cwnd and 1.5 cwnd (4.2)
  *   increase   = (target - cwnd) N / cwnd for N acknowledged bytes, a window's worth at most (4.4, 4.5)
  *   wEstIncrease = alpha SMSS N / cwnd, alpha = 9 / 17 = 3 (1 - beta) / (1 + beta), or 1 (4.3)
  *   K          = cube root of (W_max - cwnd) / C segments (equation 2), in steps of 16 ticks
  *
  * With d = t - K, d d and d d d lose 20 bits each. So W_cubic is within 0.5 byte and 1e-7 of C d^3 of the equation, K
  * within 16.4 us.
  *
  * The growth takes about 2,300 clocks, K 5,200.
  */
object CubicGrowth extends ProgrammedCalculator {
  val name = "cubicgrowth"
  val requestBits: Int = 215
  val responseBits: Int = 64
  def write(program: RowProgram, state: Seq[Row]): Unit = new CubicGrowthProgram(program).write()
}
