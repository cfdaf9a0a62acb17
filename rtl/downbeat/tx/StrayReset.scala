// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.wire.SequenceNumber
import spinal.core._

/** The answer to a segment that belongs to no connection (RFC 9293 3.10.7.1): a RST, sent as soon as possible.
  * It names its peer itself, since no connection does.
  */
case class StrayReset() extends Bundle {
  val remoteMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val localPort = UInt(16 bits)
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber() // zero unless `ack`
  /** The RST carries ACK: the stray segment had none. */
  val ack = Bool()
}
