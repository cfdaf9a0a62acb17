// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{PlacedEvent, Placement, SlotReadPort, Transfer}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4SpecRenamer, Axi4WriteOnly}

/** Moves received payload from its slot to the receive buffer, as the protocol stage has decided. It says `placed` when
  * the memory has responded. Only then may the data be acknowledged (RFC 9293 3.8.6.2.2 offers a window for what is
  * free).
  *
  * All placements stay in order: one without bytes (only a FIN) waits for those before it. A slot is free as soon as
  * its bytes have been read; there is one `slotFree` for each placement that holds a slot, discarded or not.
  */
case class PlacementWriter(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val placements = slave(Stream(Placement(config)))
    val slotRead = master(SlotReadPort(config))
    val slotFree = master(Flow(UInt(config.slotBits bits)))
    val axi = master(Axi4WriteOnly(MemoryPort.config(config)))
    val placed = master(Stream(PlacedEvent(config)))
    /** Placements whose write the memory refused. */
    val writeErrors = out(UInt(config.counterBits bits))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  private val placement = io.placements.halfPipe()
  private val (reading, wanted) = StreamFork2(placement)
  private val (moving, events) = StreamFork2(wanted.throwWhen(wanted.discard))

  private val slotReader = SlotReader(config)
  slotReader.io.placements << reading
  slotReader.io.slot <> io.slotRead
  io.slotFree << slotReader.io.free

  private val realigner = Realigner(config.beatBytes)
  realigner.io.words << slotReader.io.words

  private val writer = BurstWriter(config, config.receiveBufferBytes, config.receiveBase)
  writer.io.transfers << moving.map { placement =>
    val transfer = Transfer(config)
    transfer.flow := placement.reference.flow
    transfer.sequence := placement.sequence
    transfer.length := placement.length
    transfer
  }
  writer.io.words << realigner.io.beats.map(_.data)
  writer.io.axi >> io.axi

  private val line = events.map { placement =>
    val event = PlacedEvent(config)
    event.reference := placement.reference
    event.sequence := placement.sequence
    event.length := placement.length
    event.fin := placement.fin
    event.memoryError.assignDontCare()
    event
  }.queue(16, latency = 1)
  private val waiting = line.halfPipe()
  private val written = waiting.length =/= 0
  private val placed = waiting.continueWhen(!written || writer.io.done.valid)
  writer.io.done.ready := placed.fire && written
  io.placed << placed.map { event =>
    val judged = PlacedEvent(config)
    judged := event
    judged.memoryError.removeAssignments() := written && writer.io.done.payload
    judged
  }

  io.writeErrors := Tally(writer.io.done.fire && writer.io.done.payload, config.counterBits)

  io.idle := !placement.valid && slotReader.io.idle && realigner.io.idle && writer.io.idle && !line.valid && !waiting.valid
}
