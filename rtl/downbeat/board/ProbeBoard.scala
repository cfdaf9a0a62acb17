// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.config.DownbeatConfig
import downbeat.mac.{EthernetMac, WireRate}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.RegInst

/** The gap bench on a board, between its pins and its clocks. It sends probes by a schedule out of the first port and
  * stamps the frames that come into the second one. It has MAC, launch gate and time base, but no TCP.
  */
case class ProbeBoard(board: Board, config: DownbeatConfig) extends BoardContents(board) {
  private val registers = ProbeRegisters(board)
  private val player = ProbePlayer()
  private val mac = EthernetMac(config)
  show(registers)
  registers.common.now := mac.io.now

  private val nobody = coreRegion
  nobody.ar.ready := True
  nobody.aw.ready := True
  nobody.w.ready := True
  nobody.r.valid := True
  nobody.r.data := 0
  nobody.r.setSLVERR()
  nobody.b.valid := True
  nobody.b.setSLVERR()

  // ---- the first port: out

  mac.io.gmii <> gmii.head
  mac.io.linkUp := linkUp
  mac.io.softReset := False
  mac.io.increment := WireRate.gigabit.nominalIncrement
  mac.io.transmit << player.io.transmit
  mac.io.receive.ready := True // counted only
  registers.io.counters := mac.io.counters
  player.io.now := mac.io.now
  player.io.run := registers.io.probes.run
  player.io.start := registers.io.probes.start
  player.io.stop := registers.io.probes.stop
  player.io.write << registers.io.probes.write
  registers.io.probes.running := player.io.running
  registers.io.probes.sent := player.io.sent
  registers.io.probes.launched := player.io.launched

  // ---- the last port: in

  private val port = gmii.last
  private val core = ClockDomain.current
  private def wire(clock: Bool): ClockDomain = {
    val domain = ClockDomain(clock, config = core.config.copy(resetKind = ASYNC, resetActiveLevel = HIGH))
    domain.copy(reset = ResetCtrl.asyncAssertSyncDeassert(RegNext(core.isResetActive), domain))
  }
  private val capture = CapturePort(config, core, transmit = wire(io.wire_clk), receive = wire(port.rx_clk))
  capture.io.gmii.data := port.rxd
  capture.io.gmii.valid := port.rx_dv
  capture.io.gmii.error := port.rx_er
  capture.io.time := mac.io.wireNow
  capture.io.increment := mac.io.wireStep
  capture.io.enable := registers.io.capture.enable
  private val store = CaptureStore(board)
  store.io.push << capture.io.words
  capture.io.hasSpace := store.io.hasSpace
  registers.io.capture.words << store.io.pop
  registers.io.capture.level := store.io.level
  for ((chip, pins) <- store.io.sdram.zip(io.sdram)) chip <> pins
  registers.io.capture.lost := capture.io.lost

  def registerMaps: Map[String, Seq[RegInst]] = registers.registerMaps
}
