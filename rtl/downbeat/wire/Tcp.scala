// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._

/** Control bits of the TCP header (RFC 9293 3.1), in wire order: `fin` is bit 0. */
case class TcpFlags() extends Bundle {
  val fin, syn, rst, psh, ack, urg, ece, cwr = Bool()
}

/** The options of a segment that the core understands so far; each absent unless `valid`. */
case class TcpOptions() extends Bundle {
  /** Maximum segment size in bytes (RFC 9293 3.7.1). */
  val mssValid = Bool()
  val mss = UInt(16 bits)
  /** Shift of the peer's windows (RFC 7323 2.2), at most 14. */
  val windowScaleValid = Bool()
  val windowScale = UInt(4 bits)
}
