// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.mac.{EthernetMac, Gmii, MacCounters, TimeBase, Xgmii}
import downbeat.messages.{LocalAddresses, ReceiveDrops}
import downbeat.rx.Receiver
import downbeat.time.Stamp
import downbeat.wire.{DepartureStamp, ReceivedBeat, TransmitBeat}
import spinal.core._
import spinal.lib._

/** Test-only module: the MAC and the core's receive path. Payload slots are free again as soon as their segment has
  * come.
  */
case class WireBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val gmii = !config.xgmii generate master(Gmii())
    val xgmii = config.xgmii generate master(Xgmii())
    val local = in(LocalAddresses())
    val increment = in UInt (TimeBase.incrementBits bits)
    val now = out(Stamp())
    val transmit = slave(Stream(TransmitBeat()))
    val departures = master(Flow(DepartureStamp()))
    /** Sequence numbers of the segments that came. */
    val sequence = master(Flow(UInt(32 bits)))
    val bypass = master(Stream(ReceivedBeat()))
    val counters = out(MacCounters(config.counterBits))
    val drops = out(ReceiveDrops.counters(config.counterBits))
  }
  noIoPrefix()

  private val mac = EthernetMac(config)
  if (config.xgmii) mac.io.xgmii <> io.xgmii else mac.io.gmii <> io.gmii
  mac.io.increment := io.increment
  mac.io.linkUp := True
  mac.io.softReset := False
  io.now := mac.io.now
  mac.io.transmit << io.transmit
  io.departures << mac.io.departures
  io.counters := mac.io.counters

  private val receiver = Receiver(config.copy(vlans = 0))
  receiver.io.local := io.local
  receiver.io.wire << mac.io.receive
  io.bypass << receiver.io.bypass
  receiver.io.control.freeRun()
  io.drops := receiver.io.drops
  private val segment = receiver.io.segments.toFlow
  io.sequence.valid := segment.valid
  io.sequence.payload := segment.sequence.value
  receiver.io.slotFree.valid := segment.valid && segment.payload.payload.held
  receiver.io.slotFree.payload := segment.payload.payload.slot
  receiver.io.slotRead.enable := False
  receiver.io.slotRead.slot := 0
  receiver.io.slotRead.beat := 0
}
