// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** The application opens a connection. The MAC address of the next hop is known. */
case class OpenRequest(config: DownbeatConfig) extends Bundle {
  /** The application's name for it; comes back with the connection's addresses or in a refusal. */
  val request = UInt(16 bits)
  val remoteMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  val vlan = UInt(config.vlanBits bits)
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  /** Zero: an ephemeral one is chosen. */
  val localPort = UInt(16 bits)
  val parameters = ConnectionParameters(config)
}

/** The application listens on a port, or stops listening. A request for a port that is in use by a listener is refused
  * (RFC 9293 3.9.1.1, MUST-41).
  */
case class ListenRequest(config: DownbeatConfig) extends Bundle {
  /** Comes back in a refusal. */
  val request = UInt(16 bits)
  val remove = Bool()
  val port = UInt(16 bits)
  val parameters = ConnectionParameters(config)
}

/** An open or listen request that failed. A listen of a host's port is answered in any case: reason `none`, it is done.
  */
case class Refusal(config: DownbeatConfig) extends Bundle {
  val request = UInt(16 bits)
  val reason = CloseReason()
  val owner = (config.hostPorts > 0) generate UInt(config.ownerBits bits)

  /** It goes to the sender of the command. */
  def returnsTo(parameters: ConnectionParameters): Unit = if (config.hostPorts > 0) owner := parameters.owner
}
