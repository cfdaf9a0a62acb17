// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.memory._
import downbeat.messages.{
  ApplicationBeat, ApplicationEvent, DeliveredBeat, DeliveryRequest, FlowPosition, PlacedEvent, Placement, SlotReadPort,
  Transfer
}
import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._

/** Test-only module: the payload memory with its four movers, as the core has them. */
case class MemoryBench(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val send = slave(Stream(ApplicationBeat(config)))
    val sendOpened, acknowledged = slave(Flow(FlowPosition(config)))
    val written = master(Stream(ApplicationEvent(config)))
    val fetches = slave(Stream(Transfer(config)))
    val fetched = master(Stream(FrameBeat(bytes = config.beatBytes)))
    val placements = slave(Stream(Placement(config)))
    val slotRead = master(SlotReadPort(config))
    val placed = master(Stream(PlacedEvent(config)))
    val requests = slave(Stream(DeliveryRequest(config)))
    val receiveOpened, received = slave(Flow(FlowPosition(config)))
    val receive = master(Stream(DeliveredBeat(config)))
    val consumed = master(Stream(ApplicationEvent(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val memory = PayloadMemory(config)

  private val sendBuffer = SendBuffer(config)
  sendBuffer.io.data << io.send
  sendBuffer.io.opened << io.sendOpened
  sendBuffer.io.hold := False
  sendBuffer.io.acknowledged << io.acknowledged
  sendBuffer.io.axi >> memory.io.accept
  io.written << sendBuffer.io.written

  private val fetch = BurstReader(config, config.sendBufferBytes, base = 0)
  fetch.io.transfers << io.fetches
  fetch.io.axi >> memory.io.fetch
  io.fetched << fetch.io.data

  private val placement = PlacementWriter(config)
  placement.io.placements << io.placements
  placement.io.slotRead <> io.slotRead
  placement.io.axi >> memory.io.place
  io.placed << placement.io.placed

  private val receiveBuffer = ReceiveBuffer(config)
  receiveBuffer.io.requests << io.requests
  receiveBuffer.io.opened << io.receiveOpened
  receiveBuffer.io.received << io.received
  receiveBuffer.io.axi >> memory.io.deliver
  io.receive << receiveBuffer.io.data
  io.consumed << receiveBuffer.io.consumed

  io.idle := memory.io.idle && sendBuffer.io.idle && fetch.io.idle && placement.io.idle && receiveBuffer.io.idle
}
