// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._

/** The low bits of a sequence number. They tell the distance to any number that is less than 2^(lowBits - 1) away, such
  * as the numbers of one buffer. A number that a peer chose is compared with it only after a check that it is so near.
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
