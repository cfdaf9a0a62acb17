// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.mac.{Gmii, GmiiMac}
import downbeat.wire.{ReceivedBeat, TransmitBeat}
import spinal.core._
import spinal.lib._

/** All of it: GMII pins on one side, registers and the application's streams on the other.
  *
  * Its clocks are `clk`, the two of the wire and that of an external time, unless the build has no `timeControl`. The time is the MAC's; `time_now` shows the core's copy of it. A
  * soft reset of the core resets what holds frames in the MAC too.
  */
case class DownbeatGmii(config: DownbeatConfig) extends RegisteredCore(config, withMac = true) {
  val gmii = master(Gmii())
  /** From the PHY's management, synchronous to `clk`. */
  val link_up = in(Bool())
  /** ns in bits 63 to 16, fraction below. */
  val time_now = out(UInt(64 bits))
  /** Asynchronous: the time of its rising edges goes to the offset log (docs/reference/time.md). */
  val pps_in = config.timeControl generate in(Bool())
  /** Of `gmii_gtx_clk`: rises at times that registers say, such as each whole second. */
  val pps_out = config.timeControl generate out(Bool())
  /** A time from elsewhere (PTP, White Rabbit), if there is one: at an edge of `external_clk` with `external_valid` it is `external_time`,
    * ns in bits 63 to 16, fraction below. All may be tied to 0.
    */
  val external_clk, external_valid = config.timeControl generate in(Bool())
  val external_time = config.timeControl generate in(UInt(64 bits))
  /** The core is in reset: for what is connected to its bypass and application streams. */
  val core_reset = out(Bool())
  core_reset := registers.io.coreReset

  private val mac = GmiiMac(counted)
  mac.io.gmii <> gmii
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
  registers.io.mac.linkUp := link_up
  registers.io.mac.counters := mac.io.counters

  time_now := mac.io.now.asBits.asUInt
  core.io.now := time_now
  private val wireIn = mac.io.receive
  core.io.s_axis_wire_rx.fromStream(wireIn) { beat: ReceivedBeat =>
    core.io.s_axis_wire_rx.tdata := beat.frame.data
    core.io.s_axis_wire_rx.tkeep := beat.frame.keep
    core.io.s_axis_wire_rx.tlast := beat.frame.last
    core.io.s_axis_wire_rx.tuser := beat.error ## beat.stamp.asBits
  }
  mac.io.transmit << core.io.m_axis_wire_tx.toStream(TransmitBeat()) { beat =>
    val tuser = core.io.m_axis_wire_tx.tuser
    beat.frame.data := core.io.m_axis_wire_tx.tdata
    beat.frame.keep := core.io.m_axis_wire_tx.tkeep
    beat.frame.last := core.io.m_axis_wire_tx.tlast
    beat.launch.assignFromBits(tuser(63 downto 0))
    beat.mode.assignFromBits(tuser(65 downto 64))
    beat.tag.assignFromBits(tuser(81 downto 66))
  }
  core.io.s_axis_departure.tvalid := mac.io.departures.valid
  core.io.s_axis_departure.tdata := mac.io.departures.payload.asBits

  passOthersThrough(core.io.now, core.io.s_axis_wire_rx, core.io.m_axis_wire_tx, core.io.s_axis_departure)
}
