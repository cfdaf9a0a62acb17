// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.lib.PortNotes.Noted
import downbeat.mac.Xgmii
import spinal.core._
import spinal.lib._

/** All of it at 10 Gb/s: XGMII on one side, registers and the application's streams on the other. */
case class DownbeatXgmii(config: DownbeatConfig) extends CoreWithMac(config.copy(xgmii = true)) {
  val xgmii = master(Xgmii()).note(
    "XGMII, 64 bits at 156.25 MHz: `rx_clk` from the PHY may stop, `tx_clk` never stops.")
  mac.io.xgmii <> xgmii
}
