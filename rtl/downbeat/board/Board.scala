// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._

/** One RGMII port of a board.
  *
  * Delays are taps of 25 ps (ECP5 DELAYG), up to 127; a delay that the PHY adds itself is 0 here.
  *
  * @param phyAddress         of its PHY on the MDIO bus
  * @param receiveDelay       of RXD and RX_CTL behind RX_CLK
  * @param transmitClockDelay of TX_CLK behind TXD
  */
case class BoardPort(phyAddress: Int, receiveDelay: Int, transmitClockDelay: Int) {
  for (taps <- Seq(receiveDelay, transmitClockDelay))
    require(taps >= 0 && taps < 128, s"a delay of $taps taps: use 0 to 127")
}

/** The differences between boards inside the FPGA. Pins, device and programmer are in boards/NAME.toml.
  *
  * @param name         as in `make bitstream BOARD=`
  * @param oscillator   the clock at the input pin
  * @param core         the clock of all but the wire; the wire's is 125 MHz
  * @param ports        the first one sends and receives, the second one, if there is one, captures
  * @param leds         beat of the clock first, then link of each port
  * @param ledsLow      they shine at a low level
  * @param baud         of the UART, 8N1
  * @param phyReset     how long the PHYs' reset pin is low, and then how long they are left alone
  * @param sdram        the chip that captured frames wait in for the host; else they do in block RAM
  * @param captureWords of 64 bits that wait there at most, a power of two
  */
case class Board(
    name: String,
    oscillator: HertzNumber,
    core: HertzNumber,
    ports: Seq[BoardPort],
    leds: Int,
    ledsLow: Boolean,
    baud: Int = 115200,
    phyReset: TimeNumber = 50 ms,
    sdram: Option[SdramChip] = None,
    captureWords: Int = 4096) {
  require(name.length <= 16, s"$name: a board's name has 16 letters at most, its registers show them")
  require(ports.size == 1 || ports.size == 2, s"$name: ${ports.size} ports, use 1 or 2")
}

object Board {
  /** 1000BASE-T's byte clock. */
  val wire: HertzNumber = 125 MHz

  val all: Seq[Board] = Seq(ColorlightI9.board, Ecpix5.board)

  /** For simulation: the first board, whose time between events is short, with less of its SDRAM. */
  val simulated: Board = {
    val board = ColorlightI9.board
    val chip = board.sdram.get
    board.copy(baud = (board.core.toBigDecimal / 16).toInt, phyReset = 5 us, captureWords = 4096,
      sdram = Some(chip.copy(timings = chip.timings.copy(tPOW = 2 us))))
  }
}
