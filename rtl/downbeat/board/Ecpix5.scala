// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._

/** LambdaConcept ECPIX-5: LFE5UM5G-85F, speed grade 8, one Microchip KSZ9031.
  *
  * This PHY delays RX_CLK itself and leaves TX_CLK as it comes; so does LiteX drive it (litex-boards,
  * targets/lambdaconcept_ecpix5.py).
  */
object Ecpix5 {
  val board: Board = Board(
    name = "ecpix5",
    oscillator = 100 MHz,
    core = 62.5 MHz,
    ports = Seq(BoardPort(phyAddress = 0, receiveDelay = 0, transmitClockDelay = 80)),
    leds = 2,
    ledsLow = true)
}
