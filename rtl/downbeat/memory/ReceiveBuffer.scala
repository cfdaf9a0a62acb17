// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{ApplicationEvent, DeliveredBeat, DeliveryRequest, EventKind, FlowPosition}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4ReadOnly, Axi4SpecRenamer}

/** Delivers received data to the application as it requests it: [consumed, received) of each flow is in memory. Owns
  * `consumed`.
  *
  * A request is answered by one frame of min(requested, stored) bytes and, after its last beat, by `consumed`. A
  * request that finds less than it requests is counted; one that finds nothing is answered by nothing.
  */
case class ReceiveBuffer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val requests = slave(Stream(DeliveryRequest(config)))
    /** The first sequence number of the peer's data. */
    val opened = slave(Flow(FlowPosition(config)))
    /** All data before it is in memory. */
    val received = slave(Flow(FlowPosition(config)))
    val axi = master(Axi4ReadOnly(MemoryPort.config(config)))
    val data = master(Stream(DeliveredBeat(config)))
    val consumed = master(Stream(ApplicationEvent(config)))
    /** Requests for more than was stored, since reset. */
    val underruns = out(UInt(config.counterBits bits))
    /** Frames of which the memory refused bytes, since reset. */
    val readErrors = out(UInt(config.counterBits bits))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  private val admission = DeliveryAdmission(config)
  admission.io.requests << io.requests
  admission.io.opened << io.opened
  admission.io.received << io.received
  private val (moving, following) = StreamFork2(admission.io.transfers)

  private val reader = BurstReader(config, config.receiveBufferBytes, config.receiveBase, admission.lengthBits)
  reader.io.transfers << moving
  reader.io.axi >> io.axi

  private val current = following.queue(4, latency = 1)
  private val events = Stream(ApplicationEvent(config))
  // The last beat waits until its event has a place.
  private val beats = reader.io.data.haltWhen(reader.io.data.last && !events.ready)
  current.ready := beats.fire && beats.last
  io.data << beats.map { beat =>
    val tagged = DeliveredBeat(config)
    tagged.assignSomeByName(beat)
    tagged.flow := current.flow
    tagged.error := reader.io.failed && beat.last
    tagged
  }.m2sPipe(holdPayload = true)

  events.valid := current.ready
  events.kind := EventKind.consumed
  events.flow := current.flow
  events.length := current.length.resized
  events.memoryError := reader.io.failed
  events.urgent := False
  io.consumed << events.queue(2, latency = 1)

  io.readErrors := Tally(events.fire && events.memoryError, config.counterBits)
  io.underruns := admission.io.underruns
  io.idle := admission.io.idle && reader.io.idle && !current.valid && !io.data.valid && !io.consumed.valid
}
