// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._

/** A TCP sequence number (RFC 9293 3.4): 32 bits, ordered modulo 2^32, so never comparable by `<`. */
case class SequenceNumber() extends Bundle {
  val value = UInt(32 bits)

  def +(bytes: UInt): SequenceNumber = SequenceNumber(value + bytes.resize(32))
  /** Bytes from `that` up to this one. */
  def since(that: SequenceNumber): UInt = value - that.value
  def since(that: NearNumber): UInt = low(that.lowBits).since(that)
  def isBefore(that: SequenceNumber): Bool = (value - that.value).msb
  def isBefore(that: NearNumber): Bool = low(that.lowBits).isBefore(that)
  /** `that` is this one or later. Built from `isBefore`: Yosys maps `<=` badly. */
  def isUpTo(that: SequenceNumber): Bool = !that.isBefore(this)
  /** The low bits of a sequence number, for a place that knows a number near it. */
  def low(lowBits: Int): NearNumber = NearNumber(value.resize(lowBits))
}

object SequenceNumber {
  def apply(value: UInt): SequenceNumber = {
    val number = SequenceNumber()
    number.value := value
    number
  }
}
