// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.wire.SequenceNumber
import spinal.core._

/** The reply to a segment that belongs to no flow, sent as soon as possible: a RST (RFC 9293 3.10.7.1), a SYN and ACK
  * with a cookie when no flow is free, or an ACK of TIME-WAIT. It has the peer's addresses, because there is no connection to look them
  * up in.
  */
case class StatelessReply(vlanBits: Int) extends Bundle {
  val remoteMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  val vlan = UInt(vlanBits bits)
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val localPort = UInt(16 bits)
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber() // zero unless `ack`
  /** It carries ACK: a SYN does; a RST does when the stateless segment had none. */
  val ack = Bool()
  /** A SYN, with our MSS and no other option. */
  val syn = Bool()
  /** A RST. */
  val rst = Bool()
  /** It carries timestamps (RFC 7323 3.2). */
  val timestamped = Bool()
  val timestampValue, timestampEcho = UInt(32 bits)
}
