// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.mac.{MacDomains, WireRate, WireTime}
import downbeat.registers.RegisterMap
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.{AxiLite4, AxiLite4SpecRenamer}

/** The time of a board: registers, and a wire clock, but no frames. */
case class TimeBoard(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val bus = slave(AxiLite4(RegisterMap.bus))
    val wireClock, externalClock = in Bool ()
    val externalTime = slave Flow (Stamp())
    val pulseIn = in Bool ()
    val pulseOut = out Bool ()
    val now = out(Stamp())
  }
  noIoPrefix()

  private val registers = RegisterMap(config, withMac = true)
  registers.io.s_axil << io.bus
  registers.io.trace.setIdle()
  registers.io.counters.assignFromBits(B(0, widthOf(registers.io.counters) bits))
  registers.io.mac.counters.assignFromBits(B(0, widthOf(registers.io.mac.counters) bits))
  registers.io.coreIdle := True
  registers.io.addressConflict := False
  registers.io.neighbour.ready := True
  registers.io.mac.linkUp := True

  private val domains =
    MacDomains(ClockDomain.current, io.wireClock, io.wireClock, io.externalClock, registers.io.mac.softReset)
  io.externalTime.flatten.foreach(_.addTag(ClockDomainTag(domains.externalHard)))
  private val wireTime = WireTime(WireRate.of(config), domains.core, domains.transmitHard, domains.externalHard)
  wireTime.io.increment := registers.io.mac.increment
  wireTime.io.control <> registers.io.mac.time
  registers.io.mac.now := wireTime.io.now
  wireTime.io.externalTime << io.externalTime
  wireTime.io.pulseIn := io.pulseIn
  io.pulseOut := wireTime.io.pulseOut
  io.now := wireTime.io.now
}

/** Test-only module: two boards, each with a wire clock of its own. The pulses of the first one lead to the second. */
case class TimeBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val first, second = slave(AxiLite4(RegisterMap.bus))
    val firstClock, secondClock, externalClock = in Bool ()
    val externalTime = slave Flow (Stamp()) // to the second
    val firstNow, secondNow = out(Stamp())
  }
  noIoPrefix()
  AxiLite4SpecRenamer(io.first)
  AxiLite4SpecRenamer(io.second)

  private val first = TimeBoard(config).setName("firstBoard")
  private val second = TimeBoard(config).setName("secondBoard")
  first.io.bus << io.first
  second.io.bus << io.second
  first.io.wireClock := io.firstClock
  second.io.wireClock := io.secondClock
  for (board <- Seq(first, second)) board.io.externalClock := io.externalClock
  first.io.externalTime.setIdle()
  second.io.externalTime << io.externalTime
  first.io.pulseIn := False
  second.io.pulseIn := first.io.pulseOut
  io.firstNow := first.io.now
  io.secondNow := second.io.now
}
