// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.registers.DescribesRegisters
import downbeat.{DownbeatConfig, DownbeatGmii}
import spinal.core._
import spinal.lib._
import spinal.lib.com.eth.Mdio
import spinal.lib.com.uart.Uart

/** The core on a board, between its pins and its clocks, with a source and a sink of traffic for an application: TCP without a host's bus.
  *
  * `clk` is `board.core`; `reset` is synchronous to it. Only the first port is used. The core's registers are at 0 of uartbone.
  */
case class TrafficBoard(board: Board, config: DownbeatConfig) extends Component with DescribesRegisters {
  val io = new Bundle {
    val wire_clk = in Bool () // 125 MHz, never stops
    val uart = master(Uart())
    val rgmii = master(Rgmii())
    val mdio = master(Mdio())
    val phy_reset_n = out Bool ()
  }
  noIoPrefix()

  private val timed = new ClockingArea(ClockDomain.current.copy(frequency = ClockDomain.FixedFrequency(board.core))) {
    val bone = UartBone(board.baud, CommonRegisters.bus, regions = CommonRegisters.region + 1)
    val phys = PhyManager(board)
  }
  import timed.{bone, phys}
  private val registers = TrafficRegisters(board, config)
  private val core = DownbeatGmii(config)
  private val pins = RgmiiPort(board.ports.head)
  pins.io.rgmii <> io.rgmii
  pins.io.wireClock := io.wire_clk
  core.gmii <> pins.io.gmii

  bone.io.uart <> io.uart
  bone.io.regions(0) >> core.s_axil
  bone.io.regions(CommonRegisters.region) >> registers.io.bus
  io.mdio <> phys.io.mdio
  io.phy_reset_n := phys.io.resetPin
  phys.io.host << registers.io.mdio
  registers.io.mdioAnswer << phys.io.answer
  registers.io.phys := phys.io.states
  core.link_up := phys.io.states(0) === PhyState.up
  for (unused <- Seq(core.pps_in, core.external_clk, core.external_valid)) unused := False
  core.external_time := 0
  registers.io.now.assignFromBits(core.time_now.asBits)

  private val application = new ResetArea(reset = core.core_reset, cumulative = true) {
    val traffic = TrafficApplication(config)
  }.traffic
  application.io.command << registers.io.command
  application.io.supply << registers.io.supply
  application.io.select := registers.io.select
  registers.io.refused << application.io.refused
  registers.io.flow := application.io.flow
  registers.io.receivedBytes := application.io.receivedBytes
  registers.io.damagedFrames := application.io.damagedFrames

  // ---- the core's streams, which its top has by name

  private def port[T <: BaseType](name: String): T = core.getAllIo.find(_.getName() == name).get.asInstanceOf[T]
  private def bit(name: String): Bool = port[Bool](name)
  private def bits(name: String): Bits = port[Bits](name)

  bit("s_axis_command_tvalid") := application.io.commands.valid
  bits("s_axis_command_tdata") := application.io.commands.payload.asBits.resized
  application.io.commands.ready := bit("s_axis_command_tready")
  application.io.notifications.valid := bit("m_axis_notification_tvalid")
  application.io.notifications.payload.assignFromBits(bits("m_axis_notification_tdata").resize(widthOf(application.io.notifications.payload)))
  bit("m_axis_notification_tready") := application.io.notifications.ready

  bit("s_axis_tx_tvalid") := application.io.send.valid
  bits("s_axis_tx_tdata") := application.io.send.data
  bits("s_axis_tx_tkeep") := application.io.send.keep
  bit("s_axis_tx_tlast") := application.io.send.last
  bits("s_axis_tx_tuser") := application.io.send.urgent.asBits
  port[UInt]("s_axis_tx_tdest") := application.io.send.flow
  application.io.send.ready := bit("s_axis_tx_tready")
  application.io.received.valid := bit("m_axis_rx_tvalid")
  application.io.received.data := bits("m_axis_rx_tdata")
  application.io.received.keep := bits("m_axis_rx_tkeep")
  application.io.received.last := bit("m_axis_rx_tlast")
  application.io.received.flow := port[UInt]("m_axis_rx_tdest")
  application.io.received.error := bits("m_axis_rx_tuser").orR
  bit("m_axis_rx_tready") := application.io.received.ready

  // Frames of others: none to send, those that come are let go.
  bit("m_axis_bypass_rx_tready") := True
  bit("s_axis_bypass_tx_tvalid") := False
  bit("s_axis_bypass_tx_tlast") := True
  bits("s_axis_bypass_tx_tdata") := 0
  bits("s_axis_bypass_tx_tkeep") := 0

  def files: Seq[(String, String)] =
    registers.files ++ core.registerFiles.collect { case ("downbeat_registers.json", text) => "core_registers.json" -> text }
}
