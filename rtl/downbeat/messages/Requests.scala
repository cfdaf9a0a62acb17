// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** The application opens a connection, whose next hop is known. */
case class OpenRequest(config: DownbeatConfig) extends Bundle {
  /** The application's name for it; comes back with the connection's addresses or in a refusal. */
  val request = UInt(16 bits)
  val remoteMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  /** Zero: an ephemeral one is chosen. */
  val localPort = UInt(16 bits)
  val parameters = ConnectionParameters(config)
}

/** The application listens on a port, or no longer does. A port on which it listens already is refused (RFC 9293 3.9.1.1, MUST-41). */
case class ListenRequest(config: DownbeatConfig) extends Bundle {
  /** Comes back in a refusal. */
  val request = UInt(16 bits)
  val remove = Bool()
  val port = UInt(16 bits)
  val parameters = ConnectionParameters(config)
}

/** An open or listen request that came to nothing. */
case class Refusal() extends Bundle {
  val request = UInt(16 bits)
  val reason = CloseReason()
}
