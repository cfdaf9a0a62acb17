// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import spinal.core._

/** The phase of CUBIC in its epoch. There is one epoch for each stage of congestion avoidance. */
object CubicPhase extends SpinalEnum {
  /** The next ACK in congestion avoidance begins an epoch. */
  val waits = newElement()
  /** The epoch has begun. K is being calculated. */
  val begins = newElement()
  val grows = newElement()
}

/** The policy state of CUBIC. All zeros is the beginning. Time is in ticks of 1,024 ns. */
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

  /** t = 0, W_est = cwnd; K is to be calculated where cwnd < W_max, else K = 0 and W_max = cwnd (4.2, 4.8, 4.10).
    *
    * @param cwnd      with 16 fraction bits
    * @param cwndBytes without
    */
  def beginEpoch(cwnd: UInt, cwndBytes: UInt, belowMax: Bool): Unit = {
    tMinusK := 0
    wEst := cwnd
    phase := CubicPhase.begins
    when(!belowMax) {
      wMax := cwndBytes
      phase := CubicPhase.grows
    }
  }

  /** K is known. */
  def beginGrowth(tMinusK: SInt): Unit = {
    this.tMinusK := tMinusK
    phase := CubicPhase.grows
  }

  /** The stage of congestion avoidance ends. */
  def endEpoch(): Unit = {
    phase := CubicPhase.waits
    acked := 0
  }

  /** A connection begins. A round trip of the handshake stays. */
  def begin(hasRoundTrip: Bool): Unit = {
    wMax := 0
    cwndPrior := 0
    tMinusK := 0
    wEst := 0
    acked := 0
    phase := CubicPhase.waits
    when(!hasRoundTrip)(roundTrip := 0)
  }
}

object CubicState {
  /** `value` in so many bits, or all ones. */
  def saturated(value: UInt, bits: Int): UInt =
    (value >> bits).orR ? U((BigInt(1) << bits) - 1, bits bits) | value.resize(bits)
}
