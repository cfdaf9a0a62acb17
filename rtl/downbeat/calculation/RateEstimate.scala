// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes}
import spinal.core._

/** An ACK, for the estimates of a connection's rate. Times are ns. */
case class RateEstimateRequest() extends Bundle {
  /** The connection's first: nothing is known. */
  val begins = Bool()
  /** The stamp of its SFD. */
  val time = UInt(48 bits)
  /** Bytes that count as acknowledged. */
  val acked = UInt(32 bits)
  /** The latest sample of the round trip (zero: none yet) and the smallest. */
  val rtt, rttMinimum = UInt(32 bits)
  /** Bytes, before the ACK. */
  val cwnd = UInt(32 bits)
}

/** TCP Westwood's two estimates of a connection's rate: BWE and ERE (Wang, Valla, Sanadidi, Ng, Gerla 2002; Yu, thesis,
  * pp. 98 to 100; the rules of ns-2's agent).
  *
  * Samples b_k = d_k / dt, in bytes/s, go through a low-pass filter with tau = 1 s:
  * {{{
  * B_k = (B_{k-1} (2 tau - dt) + dt (b_k + b_{k-1})) / (2 tau + dt)
  * }}}
  * dt b_k is d_k, so that no byte is lost to rounding. Each whole tau / 2 without an ACK is a sample of zero, and what
  * remains is dt; a remainder below 10 ms joins the tau / 2 before it. After 32 s of silence B is zero.
  *
  *  - BWE: d_k is what an ACK acknowledges, dt the time since the ACK before.
  *  - ERE: d_k is what an interval of T_k acknowledges. T_k = R (cwnd - RE RTTmin) / cwnd, where RE is the rate of the
  *    last whole round trip. If that is not positive, the interval lasts until the next ACK.
  *
  * ERE has no timers: with each ACK the intervals that are over are taken in their order. T_k is R / 16 at least, which
  * bounds the work. Shorter intervals must not count as zero: an ACK behind a pause would be a sample of its own, and
  * ERE on the free path of the thesis' table 4-1 would be hundreds of segments in place of 20.
  *
  *  - ERE by the Astart slides' rule (slide 10): a sample with each ACK, S_k = (sum of d_j with t_j > t_k - T_k) / T_k,
  *    where T_k slides and RE is that of the last R. T_k is the time since the ACK before, if that is longer. tau is R,
  *    1 s at most, and a dt beyond tau / 2 counts as that.
  *
  * The sum that slides is kept in 16 slots of 2^n ns, R / 16 to R / 8 at the beginning. T_k is rounded up to the next
  * slot's begin, so it is too long by less than a slot, and the sum is exact for it. It is 15 slots at least where it
  * would be longer. The slots and what goes with them are 634 bits of a connection.
  *
  * The response is B RTTmin / 1 s of each, zero while no round trip is known. Rates and windows are 2^32 - 1 at most.
  * An ACK takes about 750 clocks, one behind a pause up to 12,000.
  */
object RateEstimate extends Calculator {
  val name = "rateestimate"
  val requestBits: Int = 1 + 48 + 4 * 32
  val responseBits: Int = 3 * 32
  /** ns: 1 s; the longest dt, tau / 2; the shortest remainder behind it. Silence that no estimate outlives. */
  val second = BigInt(1000000000)
  val longest: BigInt = second / 2
  val shortestRest: BigInt = second / 100
  val silence: BigInt = 32 * second
  /** Slots of the sum that slides. */
  val slots = 16
  def build(config: EngineSizes): CalculatorUnit = new RateEstimateUnit(config)
}
