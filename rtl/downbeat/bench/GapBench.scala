// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.mac.{EthernetMac, Gmii, MacCounters, TimeBase, Xgmii}
import downbeat.messages.{Booking, GrantEvent, NextInstant}
import downbeat.pacing.Pacer
import downbeat.wire.{DepartureStamp, ReceivedBeat, TransmitBeat}
import spinal.core._
import spinal.lib._

/** Test-only module: the pacer and the MAC on one time base. The test takes the place of engine and transmitter: it
  * books, and makes a frame of each grant (`make gap`).
  */
case class GapBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val gmii = !config.xgmii generate master(Gmii())
    val xgmii = config.xgmii generate master(Xgmii())
    /** Nanoseconds that a clock of `gtx_clk` lasts, 8.32 fixed point. */
    val increment = in UInt (TimeBase.incrementBits bits)
    val bookings = slave(Flow(Booking(config)))
    val grants = master(Stream(GrantEvent(config)))
    val transmit = slave(Stream(TransmitBeat()))
    val departures = master(Flow(DepartureStamp()))
    val receive = master(Stream(ReceivedBeat()))
    val counters = out(MacCounters(config.counterBits))
    /** The pacer's next instant of work, and that it is idle until then. */
    val next = out(NextInstant())
    val idle = out(Bool())
  }
  noIoPrefix()

  private val mac = EthernetMac(config)
  if (config.xgmii) mac.io.xgmii <> io.xgmii else mac.io.gmii <> io.gmii
  mac.io.increment := io.increment
  mac.io.linkUp := True
  mac.io.softReset := False
  mac.io.transmit << io.transmit
  io.departures << mac.io.departures
  io.receive << mac.io.receive
  io.counters := mac.io.counters

  private val pacer = Pacer(config)
  pacer.io.now := mac.io.now
  pacer.io.bookings << io.bookings
  io.grants << pacer.io.grants
  io.next := pacer.io.next
  io.idle := pacer.io.idle
}
