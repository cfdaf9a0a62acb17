// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.lib.PortNotes.Noted
import downbeat.mac.Gmii
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4

/** [[DownbeatHost]] with the MAC of [[DownbeatGmii]]: for a computer on the same chip (docs/how-to/litex.md). */
case class DownbeatHostGmii(config: DownbeatConfig) extends CoreWithMac(config.copy(xgmii = false)) with HostMemory {
  require(config.hostPorts > 0, "DownbeatHostGmii: set hostPorts")

  val gmii = master(Gmii()).note("GMII at 125 MHz: `rx_clk` from the PHY may stop, `gtx_clk` never stops.")
  mac.io.gmii <> gmii
  val m_axi: Axi4 = toHost(config)
}
