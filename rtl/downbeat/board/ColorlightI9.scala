// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._

/** Colorlight i9 v7.2: LFE5U-45F, speed grade 6, two Broadcom B50612D, an EtronTech EM638325-6.
  *
  * These PHYs delay TX_CLK themselves and leave RX_CLK as it is; so does LiteX drive them (litex-boards,
  * targets/colorlight_i5.py).
  */
object ColorlightI9 {
  val board: Board = Board(
    name = "colorlight-i9",
    oscillator = 25 MHz,
    core = 62.5 MHz,
    ports = Seq(
      BoardPort(phyAddress = 0, receiveDelay = 80, transmitClockDelay = 0),
      BoardPort(phyAddress = 1, receiveDelay = 80, transmitClockDelay = 0)),
    leds = 1,
    ledsLow = true,
    sdram = Some(SdramChip.em638325),
    captureWords = 1 << 20)
}
