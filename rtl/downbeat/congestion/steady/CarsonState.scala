// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import spinal.core._

/** The policy state of Carson. All zeros but the argument is the beginning. */
case class CarsonState() extends Bundle with CreditState {
  /** The argument: a fast drop of the interval is unsteady too; a verdict needs a full history in every row; the limit
    * of rounds in quarters of those between two events; the change of the mean that is allowed, percent; intervals of
    * the whole history.
    */
  val fastDrop, needsFull = Bool()
  val factor = UInt(6 bits)
  val variance = UInt(7 bits)
  val history = UInt(6 bits)
  val credit = UInt(AdditiveIncrease.creditBits bits)
  /** Row of the table, from zero. */
  val row = UInt(2 bits)
  /** Place of the newest interval in the history. */
  val place = UInt(5 bits)
  /** Intervals in the history. */
  val count = UInt(6 bits)
  /** Their weighted mean, packets with 8 fraction bits. */
  val mean = UInt(28 bits)
  /** An interval, in bytes, waits to go into the history. */
  val pending = Bool()
  val interval = UInt(32 bits)
  /** Bytes acknowledged since the last loss event. */
  val acked = UInt(32 bits)
  /** Bytes to be acknowledged until the round ends. */
  val left = UInt(32 bits)
  /** Rounds since the last loss event. */
  val rounds = UInt(16 bits)
  /** Rounds between the last two loss events, from which the limit comes if `armed`. */
  val between = UInt(16 bits)
  val armed = Bool()
  /** There was a loss event. */
  val seen = Bool()
  /** A new row has begun within the interval, so two rows share it. */
  val mixed = Bool()

  /** Unsteady: row 1, no history. */
  def restart(): Unit = {
    row := 0
    count := 0
    pending := False
  }

  /** A connection begins: only the argument stays. */
  def begin(before: CarsonState): Unit = {
    this.assignFromBits(B(0, widthOf(this) bits))
    fastDrop := before.fastDrop
    needsFull := before.needsFull
    factor := before.factor
    variance := before.variance
    history := before.history
  }
}
