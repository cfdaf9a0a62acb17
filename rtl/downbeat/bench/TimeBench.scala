// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.DownbeatConfig
import downbeat.mac.{MacDomains, WireTime}
import downbeat.registers.RegisterMap
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.{AxiLite4, AxiLite4SpecRenamer}

/** Test-only room: the time of two boards, each with its registers and a wire clock of its own. The pulses of the first one lead to
  * the second; an external time leads to the second too.
  */
case class TimeBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val first, second = slave(AxiLite4(RegisterMap.bus))
    val firstClock, secondClock, externalClock = in Bool ()
    val externalTime = slave Flow (Stamp())
    val firstPulse, secondPulse = out Bool ()
    val pulseIn = in Bool () // beside the first one's, to the second
    val firstNow, secondNow = out(Stamp())
  }
  noIoPrefix()
  AxiLite4SpecRenamer(io.first)
  AxiLite4SpecRenamer(io.second)

  private case class Board(bus: AxiLite4, wireClock: Bool) extends Area {
    val registers = RegisterMap(config, withMac = true)
    registers.io.s_axil << bus
    registers.io.trace.setIdle()
    registers.io.counters.assignFromBits(B(0, widthOf(registers.io.counters) bits))
    registers.io.mac.counters.assignFromBits(B(0, widthOf(registers.io.mac.counters) bits))
    registers.io.coreIdle := True
    registers.io.addressConflict := False
    registers.io.neighbour.ready := True
    registers.io.mac.linkUp := True
    val domains = MacDomains(ClockDomain.current, wireClock, wireClock, io.externalClock, registers.io.mac.softReset)
    val time = WireTime(domains.core, domains.transmitHard, domains.externalHard)
    time.io.increment := registers.io.mac.increment
    time.io.control <> registers.io.mac.time
    registers.io.mac.now := time.io.now
    time.io.externalTime.valid := False
    time.io.externalTime.payload := Stamp.zero
    time.io.pulseIn := False
  }
  private val first = Board(io.first, io.firstClock)
  private val second = Board(io.second, io.secondClock)
  io.externalTime.flatten.foreach(_.addTag(ClockDomainTag(second.domains.externalHard)))
  second.time.io.externalTime.allowOverride() << io.externalTime
  second.time.io.pulseIn.allowOverride() := first.time.io.pulseOut || io.pulseIn
  io.firstPulse := first.time.io.pulseOut
  io.secondPulse := second.time.io.pulseOut
  io.firstNow := first.time.io.now
  io.secondNow := second.time.io.now
}
