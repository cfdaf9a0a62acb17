// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.lib.PortNotes.Noted
import downbeat.mac.Gmii
import spinal.core._
import spinal.lib._

/** All of it at 1 Gb/s: GMII on one side, registers and the application's streams on the other. */
case class DownbeatGmii(config: DownbeatConfig) extends CoreWithMac(config.copy(xgmii = false)) {
  val gmii = master(Gmii()).note("GMII at 125 MHz: `rx_clk` from the PHY may stop, `gtx_clk` never stops.")
  mac.io.gmii <> gmii
}
