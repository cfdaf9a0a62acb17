// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes}
import spinal.core._

/** A loss interval to keep, and how many intervals the mean is over. */
case class LossIntervalsRequest() extends Bundle {
  /** Acknowledged between two loss events. From 2^31 on the interval counts as the longest. */
  val bytes = UInt(32 bits)
  val segmentSize = UInt(16 bits)
  /** Its place in the connection's history. The interval before it is at place - 1. */
  val place = UInt(5 bits)
  /** Intervals that count, this one included: 1 to 32. */
  val count = UInt(6 bits)
  /** Intervals of the whole history: 4 to 32. */
  val history = UInt(6 bits)
  /** The weighted mean before, and the change of it that is allowed, percent. */
  val before = UInt(28 bits)
  val variance = UInt(7 bits)
}

case class LossIntervalsResponse() extends Bundle {
  /** Weighted mean, packets with 8 fraction bits. */
  val mean = UInt(28 bits)
  /** The mean of the newest half of the history, packets with 8 fraction bits. */
  val newest = UInt(28 bits)
  /** The mean of the four newest is below half of the weighted mean. */
  val fallen = Bool()
  /** 100 |mean - before| > variance before. */
  val moved = Bool()
}

/** WALI-32: the weighted mean of a connection's last 32 loss intervals (Kannan, thesis, 4.2.2 and 4.4; after Floyd,
  * Handley, Padhye, Widmer 2000).
  *
  * I = min(floor(bytes / SMSS), 2^20 - 1) packets. With i = 1 for the newest, h intervals of history and half =
  * floor(h / 2), w_i = h + 1 - max(i, half). With h = 32 that is 17 for i <= 16 and 33 - i beyond, the paper's times 17:
  *
  *   mean = floor(256 sum(w_i I_i) / sum(w_i)) over the `count` newest, newest = floor(256 sum(I_1..I_half) / half)
  *
  * Without a product: sum(w_i I_i) is the sum of the sums I_1 + ... + I_k for k = half..h. Absent intervals count zero.
  *
  * The unit keeps the history, 32 x 20 bits for each flow. A request writes a place and reads the places before it. So
  * to make it twice does no harm, and `count` says which intervals are the connection's. A request takes about 170
  * clocks.
  */
object LossIntervals extends Calculator {
  val name = "lossintervals"
  val requestBits: Int = 100
  val responseBits: Int = 58
  val entries = 32
  val entryBits = 20
  def build(config: EngineSizes): CalculatorUnit = new LossIntervalsUnit(config)
}
