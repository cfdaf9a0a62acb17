// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import downbeat.DownbeatConfig
import spinal.core._

/** Control bits of the TCP header (RFC 9293 3.1), in wire order: `fin` is bit 0. */
case class TcpFlags() extends Bundle {
  val fin, syn, rst, psh, ack, urg, ece, cwr = Bool()
}

/** A range of sequence numbers as bytes from a segment's acknowledgment number (RFC 2018 3). */
case class SackBlock(offsetBits: Int) extends Bundle {
  val valid = Bool()
  /** Of its first byte, and of the byte behind its last one. */
  val left, right = UInt(offsetBits bits)
}

/** The options of a segment that the core understands; each absent unless `valid`. */
case class TcpOptions(config: DownbeatConfig) extends Bundle {
  /** Maximum segment size in bytes (RFC 9293 3.7.1). */
  val mssValid = Bool()
  val mss = UInt(16 bits)
  /** Shift of the peer's windows (RFC 7323 2.2), at most 14. */
  val windowScaleValid = Bool()
  val windowScale = UInt(4 bits)
  /** On a SYN: selective acknowledgments are understood (RFC 2018 2). */
  val sackPermitted = Bool()
  /** TSval and TSecr (RFC 7323 3.2). */
  val timestampValid = Bool()
  val timestampValue, timestampEcho = UInt(32 bits)
  /** What the peer holds beyond SEG.ACK, in the order of the wire; blocks that lie elsewhere are left out. */
  val sack = Vec.fill(4)(SackBlock(config.sendOffsetBits))
  /** The first block says that data has come twice (RFC 2883 4). */
  val duplicateSack = Bool()
}
