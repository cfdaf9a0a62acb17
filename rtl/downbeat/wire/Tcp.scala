// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._

/** Control bits of the TCP header (RFC 9293 3.1), in wire order: `fin` is bit 0. */
case class TcpFlags() extends Bundle {
  val fin, syn, rst, psh, ack, urg, ece, cwr = Bool()
}

/** A range of sequence numbers as bytes from a segment's acknowledgment number (RFC 2018 3). */
case class SackBlock(offsetBits: Int) extends Bundle {
  val valid = Bool()
  /** Offsets of its first byte, and of the byte behind its last one. */
  val left, right = UInt(offsetBits bits)
}
