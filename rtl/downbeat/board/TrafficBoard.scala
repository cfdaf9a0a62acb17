// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.DownbeatGmii
import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.RegInst

/** The core on a board, between its pins and its clocks, with a source and a sink of traffic as its application: TCP
  * without a host's bus. Only the first port is used.
  */
case class TrafficBoard(board: Board, preset: DownbeatConfig) extends BoardContents(board) {
  private val config =
    preset.copy(clock = board.core, timeControl = false) // nobody sets the time, and there are no pins for pulses
  private val registers = TrafficRegisters(board, config)
  private val core = DownbeatGmii(config)
  show(registers)
  io.sdram.foreach(_.rest())
  registers.common.now.assignFromBits(core.time_now.asBits)
  core.gmii <> gmii.head
  core.link_up := linkUp
  coreRegion >> core.s_axil

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
  application.io.notifications.payload.assignFromBits(
    bits("m_axis_notification_tdata").resize(widthOf(application.io.notifications.payload)))
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

  def registerMaps: Map[String, Seq[RegInst]] = registers.registerMaps + ("core" -> core.ownRegisters)
}
