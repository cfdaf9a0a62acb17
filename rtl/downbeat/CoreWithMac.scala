// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.lib.PortNotes.Noted
import downbeat.mac.EthernetMac
import downbeat.wire.FramePorts
import spinal.core._
import spinal.lib._

/** The core with its registers and a MAC: pins of a PHY on one side, registers and the application's streams on the
  * other.
  *
  * Its clocks are `clk`, the two of the wire and that of an external time, unless the build has no `timeControl`. The
  * time is the MAC's; `time_now` shows the core's copy of it. A soft reset of the core resets what holds frames in the
  * MAC too.
  */
abstract class CoreWithMac(config: DownbeatConfig) extends RegisteredCore(config, withMac = true) {
  require(config.beatBytes == 8,
    s"beatBytes = ${config.beatBytes}: this top's MAC takes 8; use Downbeat or DownbeatAxi")

  val link_up = in(Bool()).note("From the PHY's management, synchronous to `clk`.")
  val time_now = out(UInt(64 bits)).note("The core's copy of the MAC's time: ns in bits 63..16, fraction below.")
  val pps_in = config.timeControl generate in(Bool()).note(
    "Asynchronous, high and low for two wire clocks each: the time of its rising edges goes to the offset log.")
  val pps_out = config.timeControl generate out(Bool()).note(
    "Of the wire's transmit clock: rises at times that registers say, such as each whole second.")
  val external_clk =
    config.timeControl generate in(Bool()).note(
      "Clock of the external time; may stand, or be tied to 0 with the two below.")
  val external_valid =
    config.timeControl generate in(Bool()).note("At this edge the time is `external_time`; may stay 1.")
  val external_time = config.timeControl generate in(UInt(64 bits)).note(
    "A time from elsewhere (PTP, White Rabbit): ns in bits 63..16, fraction below.")
  val core_reset =
    out(Bool()).note("The core is in reset: for what is connected to its bypass and application streams.")
  core_reset := registers.io.coreReset

  protected val mac: EthernetMac = EthernetMac(counted)
  mac.io.linkUp := link_up
  mac.io.softReset := registers.io.mac.softReset
  mac.io.increment := registers.io.mac.increment
  if (config.timeControl) {
    mac.io.time <> registers.io.mac.time
    mac.io.pulseIn := pps_in
    mac.io.externalClock := external_clk
    mac.io.externalTime.valid := external_valid
    mac.io.externalTime.payload.assignFromBits(external_time.asBits)
    pps_out := mac.io.pulseOut
  }
  registers.io.mac.now := mac.io.now
  registers.io.mac.linkUp := mac.io.linkUsable
  registers.io.mac.counters := mac.io.counters

  time_now := mac.io.now.asBits.asUInt
  core.io.now := time_now
  FramePorts.writeReceived(core.io.s_axis_wire_rx, mac.io.receive)
  mac.io.transmit << FramePorts.readTransmitted(core.io.m_axis_wire_tx)
  core.io.s_axis_departure.tvalid := mac.io.departures.valid
  core.io.s_axis_departure.tdata := mac.io.departures.payload.asBits

  passOthersThrough(Seq(core.io.now, core.io.s_axis_wire_rx, core.io.m_axis_wire_tx, core.io.s_axis_departure) ++
      (if (config.hostPorts > 0) Some(memoryPort) else None): _*)
}
