// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** A rate, and the sample before it; bytes/s. */
case class FilteredRate() extends Bundle {
  val rate, last = UInt(32 bits)
}

/** The state that the unit of [[RateEstimate]] keeps of a connection. Times are ns. */
case class RateMemory() extends Bundle {
  val bwe, ere, sliding = FilteredRate()
  /** The last ACK but those of the same ns, and the bytes of these. */
  val time = UInt(48 bits)
  val held = UInt(32 bits)
  /** ERE has begun. */
  val started = Bool()
  /** RE RTTmin, bytes. */
  val achieved = UInt(32 bits)
  /** The interval of RE: its begin, its length, and the bytes so far. */
  val wholeStart = UInt(48 bits)
  val wholeLength, wholeAcked = UInt(32 bits)
  /** The interval of the sample. A length of zero: until the next ACK. */
  val sampleStart = UInt(48 bits)
  val sampleLength, sampleAcked = UInt(32 bits)
  /** The sum that slides has begun; a slot has 2^slotBits ns; the newest slot, and when it began. */
  val slides = Bool()
  val slotBits = UInt(5 bits)
  val slot = UInt(4 bits)
  val slotStart = UInt(48 bits)

  /** A connection that begins at `now`. */
  def begin(now: UInt): Unit = {
    assignFromBits(B(0, widthOf(this) bits))
    time.allowOverride() := now
  }
}
