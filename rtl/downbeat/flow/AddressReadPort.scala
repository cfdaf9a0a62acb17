// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.DownbeatConfig
import spinal.core._
import spinal.lib._

/** Reads the addresses of a flow; the master asks. The answer is there one clock after `enable`, for that clock. */
case class AddressReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val flow = UInt(config.flowBits bits)
  val addresses = ConnectionAddresses(config)

  override def asMaster(): Unit = {
    out(enable, flow)
    in(addresses)
  }
}
