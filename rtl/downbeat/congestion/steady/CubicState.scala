// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import spinal.core._

/** Where CUBIC stands in its epoch. There is one epoch for each stage of congestion avoidance. */
object CubicPhase extends SpinalEnum {
  /** The next ACK in congestion avoidance begins an epoch. */
  val waits = newElement()
  /** The epoch has begun. K is being calculated. */
  val begins = newElement()
  val grows = newElement()
}

/** What CUBIC keeps. All zeros is the beginning. Time is in ticks of 1,024 ns. */
case class CubicState() extends Bundle {
  /** W_max and cwnd_prior, bytes. */
  val wMax, cwndPrior = UInt(30 bits)
  /** t - K; before K is known t. */
  val tMinusK = SInt(31 bits)
  /** When time was last counted. */
  val countedAt = UInt(30 bits)
  /** W_est, bytes with 16 fraction bits. */
  val wEst = UInt(46 bits)
  /** Bytes acknowledged and not accounted for. */
  val acked = UInt(30 bits)
  /** The smoothed round trip; zero: none yet. */
  val roundTrip = UInt(26 bits)
  val phase = CubicPhase()
}

object CubicState {
  /** `value` in so many bits, or all ones. */
  def saturated(value: UInt, bits: Int): UInt = (value >> bits).orR ? U((BigInt(1) << bits) - 1, bits bits) | value.resize(bits)
}
