// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.DownbeatConfig
import downbeat.mac.{GmiiMac, TimeBase}
import downbeat.registers.DescribesRegisters
import spinal.core._
import spinal.lib._
import spinal.lib.com.eth.Mdio
import spinal.lib.com.uart.Uart

/** The gap bench on a board, between its pins and its clocks: probes by a schedule out of the first port, the stamps of what comes into the second
  * one. It has MAC, launch gate and time base, and no TCP.
  *
  * `clk` is `board.core`; `reset` is synchronous to it.
  */
case class ProbeBoard(board: Board) extends Component with DescribesRegisters {
  val io = new Bundle {
    val wire_clk = in Bool () // 125 MHz, never stops
    val uart = master(Uart())
    val rgmii = Vec(master(Rgmii()), board.ports.size)
    val mdio = master(Mdio())
    val phy_reset_n = out Bool ()
    val leds = out Bits (board.leds bits)
  }
  noIoPrefix()

  private val config = DownbeatConfig()
  private val core = ClockDomain.current.copy(frequency = ClockDomain.FixedFrequency(board.core))
  private val timed = new ClockingArea(core) {
    val bone = UartBone(board.baud, CommonRegisters.bus, regions = CommonRegisters.region + 1)
    val phys = PhyManager(board)
  }
  import timed.{bone, phys}
  private val registers = ProbeRegisters(board)
  private val player = ProbePlayer()
  private val mac = GmiiMac(config)
  private val pins = board.ports.map(RgmiiPort(_))
  for ((port, outside) <- pins.zip(io.rgmii)) {
    port.io.rgmii <> outside
    port.io.wireClock := io.wire_clk
  }

  bone.io.uart <> io.uart
  bone.io.regions(CommonRegisters.region) >> registers.io.bus
  private val nobody = bone.io.regions(0) // where a board with the core has its registers
  nobody.ar.ready := True
  nobody.aw.ready := True
  nobody.w.ready := True
  nobody.r.valid := True
  nobody.r.data := 0
  nobody.r.setSLVERR()
  nobody.b.valid := True
  nobody.b.setSLVERR()

  io.mdio <> phys.io.mdio
  io.phy_reset_n := phys.io.resetPin
  phys.io.host << registers.io.mdio
  registers.io.mdioAnswer << phys.io.answer
  registers.io.phys := phys.io.states

  // ---- the first port: out

  mac.io.gmii <> pins.head.io.gmii
  mac.io.linkUp := phys.io.states(0) === PhyState.up
  mac.io.softReset := False
  mac.io.increment := TimeBase.nominalIncrement
  mac.io.transmit << player.io.transmit
  mac.io.receive.ready := True // counted only
  registers.io.now := mac.io.now
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

  private val gmii = pins.last.io.gmii
  private def wire(clock: Bool): ClockDomain = {
    val domain = ClockDomain(clock, config = core.config.copy(resetKind = ASYNC, resetActiveLevel = HIGH))
    domain.copy(reset = ResetCtrl.asyncAssertSyncDeassert(RegNext(core.isResetActive), domain))
  }
  private val capture = CapturePort(config, core, transmit = wire(io.wire_clk), receive = wire(gmii.rx_clk))
  capture.io.gmii.data := gmii.rxd
  capture.io.gmii.valid := gmii.rx_dv
  capture.io.gmii.error := gmii.rx_er
  capture.io.time := mac.io.wireNow
  capture.io.increment := mac.io.wireStep
  capture.io.enable := registers.io.capture.enable
  registers.io.capture.words << capture.io.words
  registers.io.capture.level := capture.io.level
  registers.io.capture.lost := capture.io.lost
  if (pins.size > 1) {
    gmii.txd := 0
    gmii.tx_en := False
    gmii.tx_er := False
  }

  private val lit = mac.io.now.ns(29) ## phys.io.states.map(_ === PhyState.up).asBits()
  io.leds := (if (board.ledsLow) ~lit else lit).reversed.resize(board.leds).reversed

  def files: Seq[(String, String)] = registers.files
}
