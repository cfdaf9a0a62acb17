// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.wire.SackBlock
import spinal.core._

/** The options of a segment that the core implements. An option is absent unless its `valid` is set. */
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
  /** Ranges that the peer holds beyond SEG.ACK, in the order of the wire; blocks that lie elsewhere are left out. */
  val sack = Vec.fill(4)(SackBlock(config.sendOffsetBits))
  /** The first block says that data has come twice (RFC 2883 4). */
  val duplicateSack = Bool()
}
