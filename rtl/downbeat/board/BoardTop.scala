// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.config.DownbeatConfig
import downbeat.registers.DescribesRegisters
import spinal.core._
import spinal.lib._
import spinal.lib.blackbox.lattice.ecp5.{BB, EHXPLLL, EHXPLLLConfig}
import spinal.lib.bus.regif.RegInst

/** A board's FPGA: its pins, named as in boards/NAME.toml, and its clocks.
  *
  * The oscillator's PLL makes 125 MHz for the wire and the core's clock; the reset lasts until it has locked.
  */
case class BoardTop(board: Board, contents: (Board, DownbeatConfig) => BoardContents, config: DownbeatConfig)
    extends Component with DescribesRegisters {
  noIoPrefix()
  val clock = in(Bool())
  val uart_rx = in(Bool())
  val uart_tx = out(Bool())
  val rgmii = Vec(master(Rgmii()), board.ports.size)
  val mdc = out(Bool())
  val mdio = inout(Analog(Bool()))
  val phy_reset_n = out(Bool())
  val leds = out(Bits(board.leds bits))
  val sdram = board.sdram.map(chip => master(SdramWires(chip.layout)))

  private val pll = EHXPLLL(BoardTop.dividers(board))
  pll.io.CLKI := clock
  pll.io.CLKFB := pll.io.CLKOP
  pll.io.ENCLKOP := True
  pll.io.ENCLKOS := True
  for (off <- Seq(pll.io.ENCLKOS2, pll.io.ENCLKOS3, pll.io.STDBY, pll.io.RST, pll.io.PLLWAKESYNC, pll.io.PHASESEL0,
      pll.io.PHASESEL1,
      pll.io.PHASEDIR, pll.io.PHASESTEP, pll.io.PHASELOADREG)) off := False

  private val unlocked =
    ClockDomain(pll.io.CLKOS, config = ClockDomainConfig(resetKind = SYNC, resetActiveLevel = HIGH))
  private val core = unlocked.copy(reset = ResetCtrl.asyncAssertSyncDeassert(!pll.io.LOCK, unlocked))
  private val inside = core(contents(board, config))
  inside.io.wire_clk := pll.io.CLKOP
  inside.io.uart.rxd := uart_rx
  uart_tx := inside.io.uart.txd
  for ((outer, inner) <- rgmii.zip(inside.io.rgmii)) outer <> inner
  phy_reset_n := inside.io.phy_reset_n
  leds := inside.io.leds

  private def pad(pin: Bool, write: Bool, drives: Bool): Bool = {
    val both = BB()
    both.I := write
    both.T := !drives
    pin := both.B
    both.O
  }
  mdc := inside.io.mdio.C
  inside.io.mdio.IO.read := pad(mdio, inside.io.mdio.IO.write, inside.io.mdio.IO.writeEnable)

  for ((wires, pins) <- sdram.zip(inside.io.sdram)) {
    for ((wire, pin) <- wires.driven.zip(pins.driven)) wire := pin
    val bits = wires.dq.asBools.zip(pins.dq.write.asBools).zip(pins.dq.writeEnable.asBools)
    pins.dq.read := bits.map { case ((pin, write), drives) => pad(pin, write, drives) }.asBits()
  }

  def registerMaps: Map[String, Seq[RegInst]] = inside.registerMaps
}

object BoardTop {
  /** Each board with each contents, by the module's name. */
  val modules: Map[String, DownbeatConfig => Component] =
    (for (board <- Board.all; (name, contents) <- BoardContents.all)
      yield s"Board_${board.name.replace('-', '_')}_$name" -> ((config: DownbeatConfig) =>
        BoardTop(board, contents, config))).toMap

  /** CLKOP is the wire's clock and closes the loop, CLKOS the core's. */
  private def dividers(board: Board): EHXPLLLConfig = {
    def whole(ratio: BigDecimal): List[Int] = List(ratio).filter(r => r.isWhole && r >= 1 && r < 128).map(_.toInt)
    val found =
      for {
        input <- (1 to 16).toList
        feedback <- whole(Board.wire / board.oscillator * input)
        output <- 4 to 6 // 500 to 750 MHz inside
        second <- whole(Board.wire * output / board.core)
      } yield EHXPLLLConfig(clkiFreq = board.oscillator, mDiv = input, fbDiv = feedback, opDiv = output, osDiv = second,
        os2Div = output,
        os3Div = output, fbPath = EHXPLLLConfig.CLKOP)
    require(found.nonEmpty,
      s"${board.name}: no PLL setting makes ${Board.wire} and ${board.core} of ${board.oscillator}; change `core`")
    found.head
  }
}
