// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._

/** A sequence number by its low bits, for a place that keeps it: enough to say how far it is from any that is less than
  * 2^(lowBits - 1) away, such as those of one buffer. Whoever holds it against a number that a stranger chose makes sure first that it is near.
  */
case class NearNumber(lowBits: Int) extends Bundle {
  val low = UInt(lowBits bits)

  private def distance(from: UInt): UInt = (low - from.resize(lowBits)).asSInt.resize(32).asUInt

  /** Bytes from `that` up to this one: 32 bits, signed. */
  def since(that: SequenceNumber): UInt = distance(that.value)
  def since(that: NearNumber): UInt = distance(that.low)
  def isBefore(that: SequenceNumber): Bool = since(that).msb
  def isBefore(that: NearNumber): Bool = since(that).msb
  def isAt(that: SequenceNumber): Bool = low === that.value.resize(lowBits)
  def +(bytes: UInt): NearNumber = NearNumber(low + bytes.resize(lowBits))
}

object NearNumber {
  def apply(low: UInt): NearNumber = {
    val number = NearNumber(widthOf(low))
    number.low := low
    number
  }
}
