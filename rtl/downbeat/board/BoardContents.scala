// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.config.DownbeatConfig
import downbeat.registers.DescribesRegisters
import spinal.core._
import spinal.lib._
import spinal.lib.com.eth.Mdio
import spinal.lib.com.uart.Uart

/** The contents of a board, between its pins and its clocks: the bridge from the UART, the management of the PHYs, the
  * ports and the LEDs. A subclass adds what sends out of the first port. Other ports send nothing.
  *
  * `clk` is `board.core`; `reset` is synchronous to it.
  */
abstract class BoardContents(board: Board) extends Component with DescribesRegisters {
  val io = new Bundle {
    val wire_clk = in Bool () // 125 MHz, never stops
    val uart = master(Uart())
    val rgmii = Vec(master(Rgmii()), board.ports.size)
    val mdio = master(Mdio())
    val phy_reset_n = out Bool ()
    val leds = out Bits (board.leds bits)
    val sdram = board.sdram.map(chip => master(SdramPins(chip.layout)))
  }
  noIoPrefix()

  private val timed = new ClockingArea(ClockDomain.current.copy(frequency = ClockDomain.FixedFrequency(board.core))) {
    val bone = UartBone(board.baud, CommonRegisters.bus, regions = CommonRegisters.region + 1)
    val phys = PhyManager(board)
  }
  private val pins = board.ports.map(RgmiiPort(_))
  for ((port, outside) <- pins.zip(io.rgmii)) {
    port.io.rgmii <> outside
    port.io.wireClock := io.wire_clk
  }
  protected val gmii = pins.map(_.io.gmii)
  for (receiver <- gmii.tail) {
    receiver.txd := 0
    receiver.tx_en := False
    receiver.tx_er := False
  }
  timed.bone.io.uart <> io.uart
  io.mdio <> timed.phys.io.mdio
  io.phy_reset_n := timed.phys.io.resetPin

  private val up = timed.phys.io.states.map(_ === PhyState.up)
  protected val linkUp = up.head
  /** The region of uartbone in which a board with the core has its registers. */
  protected val coreRegion = timed.bone.io.regions(0)

  /** Gives the board its own registers. */
  protected def show(registers: BoardRegisters): Unit = {
    timed.bone.io.regions(CommonRegisters.region) >> registers.common.bus
    timed.phys.io.host << registers.common.mdio
    registers.common.mdioResponse << timed.phys.io.response
    registers.common.phys := timed.phys.io.states
    val lit = registers.common.now.ns(29) ## up.asBits()
    io.leds := (if (board.ledsLow) ~lit else lit).reversed.resize(board.leds).reversed
  }
}

object BoardContents {
  /** As boards/NAME.toml has it behind `inside`. */
  val all: Map[String, (Board, DownbeatConfig) => BoardContents] =
    Map("probes" -> (ProbeBoard(_, _)), "traffic" -> (TrafficBoard(_, _)))
}
