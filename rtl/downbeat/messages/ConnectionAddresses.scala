// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** The addresses of a connection, written once when it opens. The segment builder and the notifier read them. */
case class ConnectionAddresses(config: DownbeatConfig) extends Bundle {
  val remoteMac = Bits(48 bits)
  /** The network of its next hop: 0 untagged, n the n-th VLAN. */
  val vlan = UInt(config.vlanBits bits)
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val localPort = UInt(16 bits)
  val service = ServiceParameters()
  val passive = Bool()
  /** The application's name for its open command; zero for an accepted connection. */
  val request = UInt(16 bits)
}

/** Reads the addresses of a flow. They are valid for one clock, one clock after `enable`. */
case class AddressReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val flow = UInt(config.flowBits bits)
  val addresses = ConnectionAddresses(config)

  override def asMaster(): Unit = {
    out(enable, flow)
    in(addresses)
  }
}
